// Writing trees as nested brackets.
#pragma once

#include <string>

#include "shape.hpp"

namespace treemean {

struct BracketColumns {
  TreeColumns trees;
  CodedView words, tags, labels;
};

// Writes one tree per line as formats/brackets.py does: `(LABEL child child)`, children by their first word,
// leaves as INDEX=word if `positions`. Texts must be escaped already. Throws std::invalid_argument if the
// columns are not a treebank. O(sum of the sizes of all constituents).
std::string write_brackets(const BracketColumns& columns, bool positions);

}  // namespace treemean
