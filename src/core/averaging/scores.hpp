// Scores of candidates for a fixed size of the result.
#pragma once

#include <cstdint>
#include <vector>

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

// How large a scale may be so that sums of scores, times what solvers multiply them with, fit into 128 bits.
Int128 largest_scale_for(const Instance& instance);

Int128 score(const Instance& instance, const Scale& scale, std::size_t candidate);
Int128 base_score(const Instance& instance, const Scale& scale);

// F of a tree with some candidates.
Fraction value_of(const Instance& instance, const std::vector<std::uint32_t>& chosen, Int128 largest);

}  // namespace treemean::averaging
