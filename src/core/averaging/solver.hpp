// Chooses the search that suits an instance.
#pragma once

#include <cstdint>

#include "averaging/additive.hpp"
#include "averaging/binarise.hpp"
#include "averaging/budget.hpp"
#include "averaging/instance.hpp"
#include "averaging/ratio.hpp"
#include "averaging/sizes.hpp"
#include "averaging/two_trees.hpp"

namespace treemean::averaging {

enum class Goal { average, binary, sum };

struct Options {
  Goal goal = Goal::average;
  Direction direction = Direction::right;
  std::int64_t p = 1, q = 1;  // β² = p / q
  std::int64_t node_limit = 1'000'000;
  double time_limit = 0;    // seconds per sentence; none if not positive
  bool labelled = false;    // whether labels count
  bool keep_chains = true;  // then: whether sets may have chains of several labels
  Ties ties = Ties::canonical;
};

// Solves an instance by the method that suits it. Keeps memory from one to the next.
class Solver {
 public:
  // With labels, binary trees differ in size by their unary chains: costs must tell by how much.
  void run(const Instance& instance, Goal goal, Budget& budget, Outcome& outcome);

 private:
  RatioSearch ratio_;
  SizeSearch sizes_;
  TwoTreeSearch two_trees_;
  AdditiveSearch additive_;
};

}  // namespace treemean::averaging
