// Reading bracketed trees: discbracket, whose leaves are INDEX=word, and the continuous brackets of the Penn
// Treebank, whose leaves are words.
#pragma once

#include <string_view>

#include "columns.hpp"

namespace treemean {

// Reads the complete trees in `text`. If `final`, what remains at the end must be complete; otherwise an
// incomplete tree is left for the next call. A bad record ends with its line if its brackets are closed, and
// else before the next line that begins with a bracket; reading stops there unless `skip`. O(text).
ReadResult read_brackets(std::string_view text, bool discontinuous, bool final, bool skip);

}  // namespace treemean
