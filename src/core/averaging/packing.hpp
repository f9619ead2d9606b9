// The heaviest compatible subset of some sets of words, for one choice of weights after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/conflicts.hpp"
#include "averaging/integers.hpp"

namespace treemean::averaging {

struct Packed {
  Int128 value = 0;                   // the weight of what was chosen
  Int128 upper = 0;                   // no compatible subset weighs more
  std::vector<std::uint32_t> chosen;  // in no particular order
  bool ties_open = false;             // another equally heavy set might be the canonical one

  bool exact() const { return value == upper; }
};

class Packing {
 public:
  // The sets must be different, have 2 to words - 1 words, and stand in canonical order (see `precedes`).
  // Where the time does not suffice for all conflicts, solutions are poor, with a bound.
  void build(std::span<const Row> rows, std::int64_t words, Budget& budget);

  std::span<const Row> rows() const { return rows_; }
  const ConflictGraph& graph() const { return graph_; }

  // Whether some of the sets, given by ascending numbers, are pairwise compatible.
  bool compatible(std::span<const std::uint32_t> sets) const;

  // Sets whose weight is not positive are left out. Of equally heavy subsets one with the fewest sets is
  // returned; with `canonical` (and always from small components) the first of these in canonical order.
  // Sums of weights times the number of sets must stay below 2^124.
  void solve(std::span<const Int128> weights, Budget& budget, bool canonical, Packed& result);

 private:
  void solve_component(const Component& component, std::span<const Int128> weights, Budget& budget, bool canonical,
                       Packed& result);
  void solve_without_graph(std::span<const Int128> weights, Budget& budget, Packed& result);

  std::vector<Row> rows_;
  std::int64_t words_ = 0;
  ConflictGraph graph_;
  std::vector<std::uint32_t> alive_;
};

}  // namespace treemean::averaging
