// Puts the readers and writers of plain sentences into the Python module.
#pragma once

#include <nanobind/nanobind.h>

namespace treemean {

void bind_plain(nanobind::module_& m);

}  // namespace treemean
