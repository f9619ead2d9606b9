// Scores of candidates for a fixed size of the result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "averaging/big_integer.hpp"
#include "averaging/instance.hpp"
#include "averaging/integers.hpp"

namespace treemean::averaging {

// With chosen candidates that cost `count`, F is Σ_g hits_g / denominator_g = Σ_g hits_g unit_g / whole. The
// units are exact if `whole` can be a common multiple of all denominators; otherwise they are rounded down.
struct Scale {
  Int128 whole = 1;
  bool exact = true;
  std::vector<Int128> units;  // by group
};

Scale make_scale(const Instance& instance, std::int64_t count, Int128 largest);

// What no tree of candidates costs more than.
std::int64_t most_members(const Instance& instance);

// The tree of fixed constituents; with labels it has the best chain of the whole sentence.
std::vector<std::uint32_t> smallest_tree(const Instance& instance);

// Candidates that have a majority, and are worth more than a value; ascending. Without a majority rule none.
std::vector<std::uint32_t> majority_tree(const Instance& instance, const Fraction& value);

// What a candidate in the best tree scores at least for a tree of a given size, or leaving it out would be a
// gain: a share of the value of that tree. With denominators d_g, from d_0 to d_last, and q times the cost as
// r, no gain means Σ h_g / (d_g - r) ≥ Σ (N_g / d_g) r / (d_g - r); so Σ h_g / d_g ≥ F (r / d_last) (1 - r /
// d_0). Without labels the sizes of individuals differ by less than a factor of 2, and a simpler bound holds.
double least_share(const Instance& instance, std::int64_t count, std::int64_t cost);

// F of a tree in floating point.
double plain_value(const Instance& instance, std::span<const std::uint32_t> chosen);

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
