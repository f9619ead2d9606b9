// Reading bracketed trees: discbracket, whose leaves are INDEX=word, and the continuous brackets of the Penn
// Treebank, whose leaves are words.
#pragma once

#include <string_view>

#include "columns.hpp"

namespace treemean {

// Reads the complete trees in `text`; leaves have the form INDEX=word if `discontinuous`. A bad record ends
// with its line if its brackets are closed, and else before the next line that begins with a bracket.
// O(text).
ReadResult read_brackets(std::string_view text, bool discontinuous, const ReadOptions& options);

}  // namespace treemean
