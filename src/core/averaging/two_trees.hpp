// The average of two trees with different numbers of constituents and equal weights: polynomially many cuts.
#pragma once

#include <cstdint>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/instance.hpp"
#include "averaging/packing.hpp"

namespace treemean::averaging {

// A tree has all that both trees have, i constituents of the first one alone and j of the second one alone.
// For β ≥ 1 its value is a strictly quasi-convex function of (i, j), so that the best points are corners of
// the convex hull of all points; for β < 1 they may also lie on an axis, where i or j is 0 (docs/theory.md,
// section 8.1). Corners are heaviest compatible subsets, for one weight on either side; the conflict graph is
// bipartite, so each is found by a minimum cut.
class TwoTreeSearch {
 public:
  // Returns false, and leaves the outcome alone, where the instance is not of this kind or the budget ends.
  bool run(const Instance& instance, Budget& budget, Outcome& outcome);

 private:
  enum class Side : std::uint8_t { first, second, both };
  struct Point {
    std::int64_t i = 0, j = 0;
    std::vector<std::uint32_t> chosen;  // as numbers of candidates in canonical order, ascending
  };

  bool sort_into_sides(const Instance& instance);
  bool common_ones_fit() const;
  // A tree for which a i + b j is largest, the canonical one if asked for; false if the budget ended.
  bool find_heaviest(Int128 a, Int128 b, bool canonical, Budget& budget, Point& point);
  // All corners with positive i and j, from the largest i to the largest j, and perhaps points between them.
  bool find_outer_corners(Budget& budget, std::vector<Point>& corners);
  // The canonical tree with what both trees have and so many others of one of them.
  void take_from_one_side(const Instance& instance, Side side, std::int64_t number, Point& point) const;

  std::vector<std::uint32_t> order_;  // candidates in canonical order
  std::vector<Side> sides_;           // of these
  std::int64_t weight_ = 0;           // what a hit is worth
  std::vector<Int128> weights_;
  Packing packing_;
  Packed packed_;
};

}  // namespace treemean::averaging
