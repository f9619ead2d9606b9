// Writing trees as nested brackets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "validity.hpp"

namespace treemean {

// A coded column as it comes from outside; `at` throws std::out_of_range on codes without a text.
struct CodedView {
  std::span<const std::int32_t> codes;
  std::span<const std::uint8_t> data;
  std::span<const std::int64_t> offsets;

  std::string_view at(std::size_t index) const;
};

struct BracketColumns {
  TreeColumns trees;
  CodedView words, tags, labels;
};

// Writes one tree per line as formats/brackets.py does: `(LABEL child child)`, children by their first word,
// leaves as INDEX=word if `positions`. Texts must be escaped already. Throws std::invalid_argument if the
// columns are not a treebank. O(sum of the sizes of all constituents).
std::string write_brackets(const BracketColumns& columns, bool positions);

}  // namespace treemean
