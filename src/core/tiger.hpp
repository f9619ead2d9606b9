// Reading TIGER XML.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "plain.hpp"

namespace treemean {

// Sentences that stand one after the other, with nothing but white space between them.
struct PlainRun {
  std::size_t begin = 0, end = 0;  // their bytes
  std::size_t sentences = 0;
};

struct TigerResult {
  PlainResult plain;
  std::vector<PlainRun> runs;
};

// Takes the plain sentences out of a piece of a document, as formats/tiger.py reads them. All else, of which
// it only looks for its end, is left to an XML parser. `state` is that of the piece before, 0 at the
// beginning. O(piece).
TigerResult read_tiger(std::string_view text, bool final, int state, Vocabularies& known);

}  // namespace treemean
