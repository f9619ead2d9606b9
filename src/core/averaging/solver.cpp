#include "averaging/solver.hpp"

namespace treemean::averaging {

void Solver::run(const Instance& instance, const Options& options, Budget& budget, Outcome& outcome) {
  if (options.goal == Goal::sum) {
    additive_.run_sum(instance, budget, outcome);
  } else if (options.goal == Goal::binary) {
    additive_.run_binary(instance, budget, outcome);
  } else if (instance.groups() == 1) {
    ratio_.run(instance, budget, outcome);
  } else {
    sizes_.run(instance, budget, outcome);
  }
}

}  // namespace treemean::averaging
