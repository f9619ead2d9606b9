// Reading CoNLL-U.
#pragma once

#include <string_view>

#include "plain.hpp"

namespace treemean {

// Reads the complete sentences of a text that are plain, as formats/conllu.py does: a word with dependents
// makes a constituent of itself and all its descendants. O(text), and for each sentence words * nodes / 64.
PlainResult read_conllu(std::string_view text, bool final, Vocabularies& known);

}  // namespace treemean
