// All best trees, how many there are, and the best trees in order.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/instance.hpp"
#include "averaging/tables.hpp"

namespace treemean::averaging {

// These need certainty: they throw `Undecided` where a search would give up.
class Undecided : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns the best `limit` trees of an instance's candidates, better ones first, of equal ones that with
// fewer candidates, and then the first in canonical order; with `only_optimal` no more than are as good as
// the best. One search for every tree and every candidate.
std::vector<Outcome> best_trees(const Instance& instance, std::size_t limit, bool only_optimal,
                                Budget& budget);

// Returns numbers whose product is that of best trees.
std::vector<Count> count_best_trees(const Instance& instance, Budget& budget);

}  // namespace treemean::averaging
