#include "averaging/two_trees.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace treemean::averaging {

// Both groups must have the same weight, and each candidate all of it or nothing of it on either side.
bool TwoTreeSearch::sort_into_sides(const Instance& instance) {
  if (instance.labelled || instance.groups() != 2 || instance.p <= 0 || instance.fixed <= 0) return false;
  weight_ = instance.base[0] / instance.fixed;
  if (weight_ <= 0) return false;
  for (const std::int64_t base : instance.base) {
    if (base != weight_ * instance.fixed) return false;
  }
  order_.resize(instance.candidates.size());
  std::iota(order_.begin(), order_.end(), 0u);
  sort_canonically(instance, order_);
  std::array<std::int64_t, 2> members = {instance.fixed, instance.fixed};
  sides_.clear();
  for (const std::uint32_t c : order_) {
    const std::int64_t first = instance.hit(c, 0), second = instance.hit(c, 1);
    if ((first != 0 && first != weight_) || (second != 0 && second != weight_) || first + second == 0)
      return false;
    sides_.push_back(first == 0 ? Side::second : second == 0 ? Side::first : Side::both);
    members[0] += first != 0;
    members[1] += second != 0;
  }
  // A tree agrees with no more constituents than an individual has. Values of one's own might say otherwise.
  return members[0] <= instance.sizes[0] && members[1] <= instance.sizes[1];
}

// What both trees have is in every average, unless the individuals are no trees.
bool TwoTreeSearch::common_ones_fit() const {
  for (const Component& component : packing_.graph().components()) {
    for (const std::uint32_t v : component.members) {
      if (sides_[v] == Side::both) return false;
    }
  }
  return !packing_.graph().unfinished();
}

bool TwoTreeSearch::find_heaviest(Int128 a, Int128 b, bool canonical, Budget& budget, Point& point) {
  for (std::size_t v = 0; v < sides_.size(); ++v) {
    weights_[v] = sides_[v] == Side::first ? a : sides_[v] == Side::second ? b : 1;
  }
  packing_.solve(weights_, budget, canonical, packed_);
  if (!packed_.exact()) return false;
  point.chosen = packed_.chosen;
  std::sort(point.chosen.begin(), point.chosen.end());
  point.i = point.j = 0;
  for (const std::uint32_t v : point.chosen) {
    point.i += sides_[v] == Side::first;
    point.j += sides_[v] == Side::second;
  }
  return true;
}

// Between two points of the hull, look in the direction in which both are equally far: what lies farther is a
// point of the hull; if nothing does, their connection is an edge of it.
bool TwoTreeSearch::find_outer_corners(Budget& budget, std::vector<Point>& corners) {
  const Int128 many = static_cast<Int128>(sides_.size()) + 1;
  corners.resize(2);
  if (!find_heaviest(many, 1, false, budget, corners[0])) return false;
  if (!find_heaviest(1, many, false, budget, corners[1])) return false;
  std::vector<std::pair<std::size_t, std::size_t>> open{{0, 1}};
  while (!open.empty()) {
    const auto [right, left] = open.back();
    open.pop_back();
    const Int128 a = corners[left].j - corners[right].j, b = corners[right].i - corners[left].i;
    if (a <= 0 || b <= 0) continue;
    Point point;
    if (!find_heaviest(a, b, false, budget, point)) return false;
    if (a * point.i + b * point.j <= a * corners[left].i + b * corners[left].j) continue;
    corners.push_back(std::move(point));
    open.emplace_back(right, corners.size() - 1);
    open.emplace_back(corners.size() - 1, left);
  }
  std::sort(corners.begin(), corners.end(), [](const Point& x, const Point& y) { return x.i > y.i; });
  const auto same = [](const Point& x, const Point& y) { return x.i == y.i && x.j == y.j; };
  corners.erase(std::unique(corners.begin(), corners.end(), same), corners.end());
  return true;
}

// Any constituents of one tree go together. Of equally many, those with the highest preferences are taken,
// and of these the first ones, which are canonical.
void TwoTreeSearch::take_from_one_side(const Instance& instance, Side side, std::int64_t number,
                                       Point& point) const {
  (side == Side::first ? point.i : point.j) = number;
  std::vector<std::uint32_t> of_side;
  for (std::uint32_t v = 0; v < sides_.size(); ++v) {
    if (sides_[v] == Side::both) point.chosen.push_back(v);
    if (sides_[v] == side) of_side.push_back(v);
  }
  std::stable_sort(of_side.begin(), of_side.end(), [&](std::uint32_t x, std::uint32_t y) {
    return instance.preference(order_[x]) > instance.preference(order_[y]);
  });
  point.chosen.insert(point.chosen.end(), of_side.begin(), of_side.begin() + number);
  std::sort(point.chosen.begin(), point.chosen.end());
}

bool TwoTreeSearch::run(const Instance& instance, Budget& budget, Outcome& outcome) {
  if (!sort_into_sides(instance)) return false;
  packing_.build(instance, order_, budget);
  if (!common_ones_fit()) return false;
  weights_.resize(sides_.size());
  std::vector<Point> corners;
  if (!find_outer_corners(budget, corners)) return false;
  const std::size_t outer = corners.size();
  // The corners on the axes.
  for (const auto& [a, b] : {std::pair{0, 0}, std::pair{1, 0}, std::pair{0, 1}}) {
    if (!find_heaviest(a, b, true, budget, corners.emplace_back())) return false;
  }

  const auto common = std::count(sides_.begin(), sides_.end(), Side::both);
  const auto value_of = [&](std::int64_t i, std::int64_t j) -> Fraction {
    const Int128 first = instance.base[0] + weight_ * (common + i);
    const Int128 second = instance.base[1] + weight_ * (common + j);
    const std::int64_t size = common + i + j;
    const Int128 under_first = instance.denominator(0, size), under_second = instance.denominator(1, size);
    return {first * under_second + second * under_first, under_first * under_second};
  };
  // For β < 1 a point inside an axis may be best; of several, the one nearest to the common tree.
  if (instance.p < instance.q) {
    for (const Side side : {Side::first, Side::second}) {
      const auto all = std::count(sides_.begin(), sides_.end(), side);
      const auto value_at = [&](std::int64_t number) {
        return side == Side::first ? value_of(number, 0) : value_of(0, number);
      };
      std::int64_t best = 0;
      for (std::int64_t number = 1; number <= all; ++number) {
        if (compare(value_at(number), value_at(best)) > 0) best = number;
      }
      take_from_one_side(instance, side, best, corners.emplace_back());
    }
  }
  outcome.value = value_of(0, 0);
  for (const Point& point : corners) {
    if (const Fraction value = value_of(point.i, point.j); compare(value, outcome.value) > 0)
      outcome.value = value;
  }
  const auto preference_of = [&](const Point& point) {
    std::int64_t sum = 0;
    for (const std::uint32_t v : point.chosen) sum += instance.preference(order_[v]);
    return sum;
  };
  const auto comes_first = [&](const Point& a, const Point& b) {
    if (a.chosen.size() != b.chosen.size()) return a.chosen.size() < b.chosen.size();
    const std::int64_t x = preference_of(a), y = preference_of(b);
    return x != y ? x > y : a.chosen < b.chosen;
  };
  // The smallest best points are corners or on the axes. Between the normals of the edges on both sides of a
  // corner it is the only best one.
  const Point* best = nullptr;
  for (std::size_t c = 0; c < corners.size(); ++c) {
    if (compare(value_of(corners[c].i, corners[c].j), outcome.value) < 0) continue;
    if (c < outer) {
      const bool has_right = c > 0, has_left = c + 1 < outer;
      const Point& right = corners[has_right ? c - 1 : c];
      const Point& left = corners[has_left ? c + 1 : c];
      const Int128 a = left.j - right.j + (has_right ? 0 : 1), b = right.i - left.i + (has_left ? 0 : 1);
      if (!find_heaviest(a, b, true, budget, corners[c])) return false;
    }
    const Point& point = corners[c];
    if (best == nullptr || comes_first(point, *best)) best = &point;
  }
  outcome.optimal = true;
  outcome.rounded = false;
  outcome.upper = 0;
  outcome.searched = static_cast<std::int64_t>(order_.size());
  outcome.chosen.clear();
  for (const std::uint32_t v : best->chosen) outcome.chosen.push_back(order_[v]);
  std::sort(outcome.chosen.begin(), outcome.chosen.end());
  return true;
}

}  // namespace treemean::averaging
