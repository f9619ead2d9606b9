// The tree with the largest plain sum, without a ratio: also the best binary tree, whose size is given.
#pragma once

#include "averaging/budget.hpp"
#include "averaging/instance.hpp"
#include "averaging/packing.hpp"
#include "averaging/scores.hpp"

namespace treemean::averaging {

class AdditiveSearch {
 public:
  // Maximises the sum of hits over a compatible subset; the value is that sum.
  void run_sum(const Instance& instance, Budget& budget, Outcome& outcome);

  // Maximises F among trees with as many constituents as a binary one has. Candidates that are not chosen
  // count for nothing, so that any binarisation of the result is as good, unless it adds negative ones.
  void run_binary(const Instance& instance, Budget& budget, Outcome& outcome);

 private:
  void run(const Instance& instance, const Scale& scale, Int128 base, Budget& budget, Outcome& outcome);

  std::vector<std::uint32_t> kept_;
  std::vector<Int128> weights_;
  Packing packing_;
  Packed packed_;
};

}  // namespace treemean::averaging
