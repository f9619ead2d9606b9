// The average of trees with different numbers of constituents: one problem for every size of the result.
#pragma once

#include <cstdint>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/instance.hpp"
#include "averaging/packing.hpp"
#include "averaging/scores.hpp"

namespace treemean::averaging {

// For a fixed size the best tree is the heaviest compatible subset with so many members; with labels, that
// costs so much. Sizes are ruled out by bounds against the best tree so far: the largest scores, and
// Lagrangian relaxations Σ (score - μ) + μ size, both also for whole ranges of sizes. Where a gap remains,
// tables by number of members close it.
class SizeSearch {
 public:
  void run(const Instance& instance, Budget& budget, Outcome& outcome);

  // After `run`, about the same instance: the numbers of candidates with which a tree may be worth `enough`.
  std::vector<std::int64_t> sizes_reaching(double enough, Budget& budget);

 private:
  struct Range {
    std::int64_t low, high;
  };
  // A relaxed solution: what it costs, and its scores.
  struct Point {
    std::int64_t members;
    Int128 value;
  };
  struct BestOfSize {
    Fraction bound;                     // no tree of this size is better
    bool exact = false;                 // whether `chosen` is a best tree of this size, the canonical one
    std::vector<std::uint32_t> chosen;  // as numbers of kept candidates
  };
  using Scores = std::vector<Int128>;

  // `first` are candidates to begin with, ascending; returns false if they conflict.
  bool keep_candidates(const std::vector<std::uint32_t>& first, Budget& budget);
  void climb(Budget& budget);
  std::vector<Range> all_sizes() const;
  static void halve(const Range& range, std::vector<Range>& todo);
  void prove(Budget& budget, Outcome& outcome);
  void choose_canonical(Budget& budget);

  // The scores of kept candidates that can be in a tree of this size as good as the best one, 0 for others.
  void score_kept(std::int64_t count, Scale& scale, Scores& scores) const;
  std::int64_t cost_of_kept(const std::vector<std::uint32_t>& chosen) const;
  Fraction value_of_kept(const std::vector<std::uint32_t>& chosen) const;
  bool offer(const std::vector<std::uint32_t>& chosen);
  Int128 marginal_loss(const Scale& scale, std::int64_t count) const;
  bool ruled_out(const Fraction& bound, bool strictly) const;
  Int128 largest_sum(const Scores& scores, std::int64_t size) const;
  Point smallest_point(const Scores& scores, bool canonical, Budget& budget);
  Fraction bound_of(const Range& range, bool strictly, Budget& budget);
  double crude_bound() const;
  BestOfSize best_of_size(std::int64_t count, bool strictly, Budget& budget);
  BestOfSize best_by_table(std::int64_t count, const Scale& scale, const Scores& scores, Fraction bound,
                           Budget& budget);

  const Instance* instance_ = nullptr;
  Int128 largest_scale_ = 1;
  bool negative_ = false;            // whether hits or bases are negative; some bounds do not hold then
  std::vector<std::uint32_t> kept_;  // candidates in canonical order
  std::size_t whole_ = 0;            // those from here on are chains of the whole sentence
  Packing packing_;
  Packed packed_;
  std::vector<Int128> weights_;
  Fraction best_value_;
  std::vector<std::uint32_t> best_;  // as numbers of kept candidates, ascending
};

}  // namespace treemean::averaging
