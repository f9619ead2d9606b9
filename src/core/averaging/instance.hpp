// One sentence to average, without its labels: what the search sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "averaging/conflicts.hpp"
#include "averaging/integers.hpp"

namespace treemean::averaging {

// Individuals with equally many constituents form a group. A tree with the candidates Q is worth
//
//   F(Q) = Σ_g (base_g + Σ_{c ∈ Q} hits(c, g)) / (q (fixed + |Q|) + p size_g),     β² = p / q,
//
// which is its weighted mean F_β but for a constant factor.
struct Instance {
  std::int64_t words = 0;
  std::int64_t fixed = 0;  // constituents that every tree has
  std::int64_t p = 1, q = 1;
  std::vector<std::int64_t> sizes;  // of the groups, ascending
  std::vector<std::int64_t> base;   // hits of the fixed constituents, by group
  std::vector<Row> candidates;      // different sets of 2 to words - 1 words
  std::vector<std::int64_t> hits;   // by candidate and group
  // If positive: two candidates with more hits than half of this are compatible, if individuals are trees.
  std::int64_t majority_total = 0;

  std::size_t groups() const { return sizes.size(); }
  std::int64_t hit(std::size_t candidate, std::size_t group) const { return hits[candidate * groups() + group]; }
  std::int64_t denominator(std::size_t group, std::int64_t count) const {
    return q * (fixed + count) + p * sizes[group];
  }
};

// What a search found.
struct Outcome {
  std::vector<std::uint32_t> chosen;  // candidates, ascending
  Fraction value;                     // F of these
  double upper = 0;                   // F of no tree is higher, when not optimal
  bool optimal = true;
  bool rounded = false;  // not optimal only because the arithmetic is too coarse to prove it
  std::int64_t searched = 0;  // candidates that were left when the search began
};

}  // namespace treemean::averaging
