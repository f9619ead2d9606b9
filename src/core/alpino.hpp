// Reading the XML of the Alpino parser and of the Lassy treebanks.
#pragma once

#include <string_view>

#include "columns.hpp"

namespace treemean {

// Reads the complete <alpino_ds> elements in `text`. A bad sentence ends with its end tag, or where the next
// one begins.
ReadResult read_alpino(std::string_view text, const ReadOptions& options);

}  // namespace treemean
