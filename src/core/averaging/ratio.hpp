// The average of trees with equally many constituents: one ratio to maximise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/instance.hpp"
#include "averaging/packing.hpp"

namespace treemean::averaging {

// Maximises (base + hits of Q) / (D + q cost of Q) by Dinkelbach's iteration: for the current value λ the
// subset with the largest Σ (hits - λ q cost) gives a better value, or proves that there is none. Of equal
// values the canonical subset.
class RatioSearch {
 public:
  void run(const Instance& instance, Budget& budget, Outcome& outcome);

 private:
  void keep_candidates(const Instance& instance, const Fraction& value, Budget& budget);

  void begin_with(const Instance& instance, std::span<const std::uint32_t> labelled_tree);

  std::vector<std::uint32_t> kept_;  // candidates worth more than the first value, in canonical order
  std::vector<std::uint32_t> best_;  // what was chosen of these
  std::vector<Int128> weights_;
  Packing packing_;
  Packed packed_;
};

}  // namespace treemean::averaging
