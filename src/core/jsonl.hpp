// Reading JSON Lines.
#pragma once

#include <string_view>

#include "plain.hpp"

namespace treemean {

// Reads the complete lines of a text that are plain, as formats/jsonl.py does. O(text), and for each
// sentence O(sum of the sizes of its constituents).
PlainResult read_jsonl(std::string_view text, bool final, Vocabularies& known);

}  // namespace treemean
