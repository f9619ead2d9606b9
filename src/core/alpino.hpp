// Reading the XML of the Alpino parser and of the Lassy treebanks.
#pragma once

#include <optional>
#include <string_view>

#include "columns.hpp"

namespace treemean {

struct AlpinoResult {
  Columns columns;
  std::size_t consumed = 0;
  std::int64_t lines = 0;
  std::optional<Problem> problem;
  bool fatal = false;  // the problem lies outside the sentences: the file cannot be read on
};

// Reads the complete <alpino_ds> elements in `text`; see read_brackets for `final` and for bad records.
AlpinoResult read_alpino(std::string_view text, bool final);

}  // namespace treemean
