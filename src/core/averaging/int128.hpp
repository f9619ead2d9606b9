// Integers of 128 bits: the compiler's own, where it has them.
#pragma once

#if defined(__SIZEOF_INT128__) && !defined(TREEMEAN_PORTABLE_INTEGERS)

namespace treemean::averaging {
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;
}  // namespace treemean::averaging

#else

#include "averaging/portable_integer.hpp"

namespace treemean::averaging {
using Int128 = PortableInteger<true>;
using Uint128 = PortableInteger<false>;
}  // namespace treemean::averaging

#endif
