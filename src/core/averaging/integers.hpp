// Exact arithmetic: 128-bit integers, and fractions that are compared without rounding.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>

#include "averaging/int128.hpp"

namespace treemean::averaging {

// The number of bits of |x|.
inline int bit_length(Int128 x) {
  const auto magnitude = static_cast<Uint128>(x < 0 ? -x : x);
  const auto high = static_cast<std::uint64_t>(magnitude >> 64);
  return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                   : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(magnitude)));
}

// The largest integer that is not above x / y, for positive y.
inline Int128 floor_division(Int128 x, Int128 y) { return x / y - (x % y < 0 ? 1 : 0); }

// A fraction with a positive denominator, not necessarily in lowest terms.
struct Fraction {
  Int128 numerator = 0;
  Int128 denominator = 1;
};

inline double to_double(const Fraction& f) {
  return static_cast<double>(static_cast<long double>(f.numerator) / static_cast<long double>(f.denominator));
}

// Compares by continued fractions, so that nothing is multiplied and nothing can overflow.
inline std::strong_ordering compare(Fraction a, Fraction b) {
  bool flipped = false;
  while (true) {
    const Int128 whole_a = floor_division(a.numerator, a.denominator);
    const Int128 whole_b = floor_division(b.numerator, b.denominator);
    const Int128 rest_a = a.numerator - whole_a * a.denominator;
    const Int128 rest_b = b.numerator - whole_b * b.denominator;
    std::strong_ordering order = whole_a <=> whole_b;
    if (order == 0 && (rest_a == 0 || rest_b == 0)) order = (rest_a != 0) <=> (rest_b != 0);
    else if (order == 0) {
      // Both have the same whole part: the one with the larger reciprocal of the rest is the smaller one.
      a = {a.denominator, rest_a};
      b = {b.denominator, rest_b};
      flipped = !flipped;
      continue;
    }
    return flipped ? 0 <=> order : order;
  }
}

}  // namespace treemean::averaging
