// Reading bracketed trees: discbracket, whose leaves are INDEX=word, and the continuous brackets of the Penn
// Treebank, whose leaves are words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "columns.hpp"
#include "dialects.hpp"

namespace treemean {

// What a reader of brackets left out, and where it met a leaf of another dialect than the one it was to
// guess.
struct LeftOut {
  std::int64_t empty = 0;     // traces and other empty leaves
  std::int64_t wordless = 0;  // units that hold no words
  std::string foreign;        // what looks like another dialect, if anything does
  std::int64_t line = 0;      // its line, from 1 on
};

struct BracketResult : ReadResult {
  LeftOut left_out;
};

// Reads the complete trees in `text`. A line that begins with # outside of trees is a comment. Line breaks
// inside a tree mean nothing, unless the tree is not closed at all: then it ends before the next line that is
// indented like its first one and begins with a bracket, or before a comment. (In discbracket, before the
// next line that begins with a bracket.) A bad tree whose brackets are closed ends with its line. O(text).
BracketResult read_brackets(std::string_view text, const BracketDialect& dialect, const ReadOptions& options);

}  // namespace treemean
