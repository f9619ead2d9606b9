// Reading bracketed trees: discbracket, whose leaves are INDEX=word, and the continuous brackets of the Penn
// Treebank, whose leaves are words.
#pragma once

#include <optional>
#include <string_view>

#include "columns.hpp"

namespace treemean {

struct BracketResult {
  Columns columns;
  std::size_t consumed = 0;       // bytes that need not be given again
  std::int64_t lines = 0;         // line breaks among them
  std::optional<Problem> problem; // the bad record at which reading stopped
};

// Reads the complete trees in `text`. If `final`, what remains at the end must be complete; otherwise an
// incomplete tree is left for the next call. Stops at the first bad record, which ends with its line if its
// brackets are closed, and else before the next line that begins with a bracket.
BracketResult read_brackets(std::string_view text, bool discontinuous, bool final);

}  // namespace treemean
