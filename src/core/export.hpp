// Reading NEGRA's export format, versions 3 and 4.
#pragma once

#include <string_view>

#include "plain.hpp"

namespace treemean {

// Reads the complete sentences of a text that are plain, as formats/export.py does. `version` is what
// #FORMAT told before this text, 0 if nothing; each sentence then shows by itself which it is. O(text).
PlainResult read_export(std::string_view text, bool final, int version, Vocabularies& known);

}  // namespace treemean
