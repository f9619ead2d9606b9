// One sentence to average: what the search sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "averaging/conflicts.hpp"
#include "averaging/integers.hpp"

namespace treemean::averaging {

// Individuals with equally many constituents form a group. A tree with the candidates Q is worth
//
//   F(Q) = Σ_g (base_g + Σ_{c ∈ Q} hits(c, g)) / (q (fixed + Σ_{c ∈ Q} cost(c)) + p size_g),     β² = p / q,
//
// which is its weighted mean F_β but for a constant factor.
//
// Without labels, candidates are different sets of 2 to words - 1 words that cost 1 each. With labels a
// candidate is a set with a chain of labels; those of the same set lie side by side, in order of preference,
// and share their words. A tree has at most one of them, and exactly one of the whole sentence.
struct Instance {
  std::int64_t words = 0;
  std::int64_t fixed = 0;  // constituents that every tree has
  std::int64_t p = 1, q = 1;
  std::vector<std::int64_t> sizes;  // of the groups, ascending
  std::vector<std::int64_t> base;   // hits of the fixed constituents, by group
  std::vector<Row> candidates;
  std::vector<std::int64_t> hits;  // by candidate and group
  // If positive: two candidates with more hits than half of this, for each constituent that they cost, have
  // compatible sets, if individuals are trees.
  std::int64_t majority_total = 0;
  bool trees = true;  // whether the candidates of each individual are compatible
  bool labelled = false;
  std::vector<std::int64_t> costs;  // how many constituents a candidate adds; 1 each if empty
  // What candidates are worth among equally good trees with the fewest constituents; 0 each if empty.
  std::vector<std::int64_t> preferences;

  std::size_t groups() const { return sizes.size(); }
  std::int64_t hit(std::size_t candidate, std::size_t group) const {
    return hits[candidate * groups() + group];
  }
  std::int64_t cost(std::size_t candidate) const { return costs.empty() ? 1 : costs[candidate]; }
  std::int64_t preference(std::size_t candidate) const {
    return preferences.empty() ? 0 : preferences[candidate];
  }
  std::int64_t denominator(std::size_t group, std::int64_t count) const {
    return q * (fixed + count) + p * sizes[group];
  }

  // Of some candidates together.
  std::int64_t cost_of(std::span<const std::uint32_t> chosen) const {
    if (costs.empty()) return static_cast<std::int64_t>(chosen.size());
    std::int64_t sum = 0;
    for (const std::uint32_t c : chosen) sum += costs[c];
    return sum;
  }
  std::int64_t preference_of(std::span<const std::uint32_t> chosen) const {
    std::int64_t sum = 0;
    for (const std::uint32_t c : chosen) sum += preference(c);
    return sum;
  }

  bool same_set(std::size_t a, std::size_t b) const { return candidates[a].words == candidates[b].words; }
  // Whether a candidate is a chain over the whole sentence, of which a tree has exactly one.
  bool is_whole(std::size_t candidate) const { return labelled && has_all(candidates[candidate], words); }
  bool is_single(std::size_t candidate) const { return labelled && has_one(candidates[candidate]); }
  // Candidates that cannot be in one tree.
  bool exclude_each_other(std::size_t a, std::size_t b) const {
    return same_set(a, b) || conflict(candidates[a], candidates[b]);
  }
};

// What decides between equally good trees with the fewest constituents, before the canonical order does: last
// words far to the right, first words far to the left, or values that constituents are given.
enum class Ties { canonical, right, left, values };

// What a search found.
struct Outcome {
  std::vector<std::uint32_t> chosen;  // candidates, ascending
  Fraction value;                     // F of these
  double upper = 0;                   // F of no tree is higher, when not optimal
  bool optimal = true;
  bool rounded = false;       // not optimal only because the arithmetic is too coarse to prove it
  std::int64_t searched = 0;  // candidates that were left when the search began
};

// Numbers of candidates in canonical order; among those of one set their order stays.
void sort_canonically(const Instance& instance, std::vector<std::uint32_t>& candidates);

}  // namespace treemean::averaging
