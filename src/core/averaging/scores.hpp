// Scores of candidates for a fixed size of the result.
#pragma once

#include <cstdint>
#include <vector>

#include "averaging/big_integer.hpp"
#include "averaging/instance.hpp"
#include "averaging/integers.hpp"

namespace treemean::averaging {

// With `count` candidates chosen, F is Σ_g hits_g / denominator_g = Σ_g hits_g unit_g / whole. The units are
// exact if `whole` can be a common multiple of all denominators; otherwise they are rounded down.
struct Scale {
  Int128 whole = 1;
  bool exact = true;
  std::vector<Int128> units;  // by group
};

Scale make_scale(const Instance& instance, std::int64_t count, Int128 largest);

// How many candidates the largest tree has.
std::int64_t most_members(const Instance& instance);

// Whether all scales of an instance, for trees of any size, are exact.
bool has_exact_scales(const Instance& instance, Int128 largest);

// The sum of all hits, whatever their sign.
Int128 sum_of_magnitudes(const Instance& instance);

// What rounded scales change no value by more than, where that is more than 1e-12 of a value; else 0.
double visible_rounding(const Instance& instance, Int128 largest, const Fraction& value);

// How large a scale may be so that sums of scores, times what solvers multiply them with, fit into 128 bits.
Int128 largest_scale_for(const Instance& instance);

Int128 score(const Instance& instance, const Scale& scale, std::size_t candidate);
Int128 base_score(const Instance& instance, const Scale& scale);

// F of a tree with some candidates; rounded down where there is no exact scale.
Fraction value_of(const Instance& instance, const std::vector<std::uint32_t>& chosen, Int128 largest);

// The same without rounding, but slowly.
struct BigFraction {
  BigInteger numerator, denominator = 1;
};
std::strong_ordering compare(const BigFraction& a, const BigFraction& b);

struct BigScale {
  BigInteger whole = 1;
  std::vector<BigInteger> units;  // by group
};
BigScale make_big_scale(const Instance& instance, std::int64_t count);
BigFraction exact_value_of(const Instance& instance, const std::vector<std::uint32_t>& chosen);

}  // namespace treemean::averaging
