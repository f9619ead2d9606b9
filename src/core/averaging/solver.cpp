#include "averaging/solver.hpp"

namespace treemean::averaging {

void Solver::run(const Instance& instance, Goal goal, Budget& budget, Outcome& outcome) {
  if (goal == Goal::sum) {
    additive_.run_sum(instance, budget, outcome);
  } else if (goal == Goal::binary && !instance.labelled) {
    additive_.run_binary(instance, budget, outcome);
  } else if (instance.groups() == 1) {
    ratio_.run(instance, budget, outcome);
  } else if (!instance.trees || !two_trees_.run(instance, budget, outcome)) {
    sizes_.run(instance, budget, outcome);
  }
}

}  // namespace treemean::averaging
