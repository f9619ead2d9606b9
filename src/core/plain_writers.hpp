// Writing plain sentences as export, CoNLL-U, TIGER XML and JSON Lines. What a text looks like in a format,
// with quotes and escapes, and whether it can be there at all, is decided in Python, once for each text of a
// vocabulary; here the pieces are put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shape.hpp"

namespace treemean {

// Texts one after the other, as they come from outside.
struct StringsView {
  std::span<const std::uint8_t> data;
  std::span<const std::int64_t> offsets;

  std::string_view at(std::size_t index) const;
};

struct WriterColumns {
  TreeColumns trees;
  CodedView words, tags, word_functions, labels, functions;
  StringsView openings, closings;  // what stands before and after each sentence
};

struct Written {
  std::string text;
  std::size_t sentences = 0;  // the first one behind these cannot be expressed
};

// All of these write what the modules of the formats in Python write. They throw std::invalid_argument if the
// columns are not a treebank. O(sum of the sizes of all constituents).

// With a column of lemmas in version 4.
Written write_export(const WriterColumns& columns, int version);

// Functions that mark heads are told as a tab. Stops before a tree whose heads are not marked as they must
// be.
Written write_conllu(const WriterColumns& columns);

// The first sentence is number `first`; texts are in quotes already.
Written write_tiger(const WriterColumns& columns, std::int64_t first);

// Texts are in quotes already; `values` is what stands in each constituent after its function.
Written write_jsonl(const WriterColumns& columns, const CodedView& values);

}  // namespace treemean
