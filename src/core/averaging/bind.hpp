// The Python face of averaging.
#pragma once

#include <nanobind/nanobind.h>

namespace treemean {

void bind_averaging(nanobind::module_& m);

}  // namespace treemean
