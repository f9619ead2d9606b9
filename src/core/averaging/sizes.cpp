#include "averaging/sizes.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "averaging/tables.hpp"

namespace treemean::averaging {
namespace {

constexpr std::int64_t table_steps = 50'000;
constexpr int climbing_steps = 10;

double plain_value(const Instance& instance, const std::vector<std::uint32_t>& chosen) {
  double value = 0;
  for (std::size_t g = 0; g < instance.groups(); ++g) {
    double hits = static_cast<double>(instance.base[g]);
    for (const std::uint32_t c : chosen) hits += static_cast<double>(instance.hit(c, g));
    value += hits / static_cast<double>(instance.denominator(g, static_cast<std::int64_t>(chosen.size())));
  }
  return value;
}

std::vector<std::uint32_t> majority(const Instance& instance) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t c = 0; c < instance.candidates.size() && instance.majority_total > 0; ++c) {
    std::int64_t hits = 0;
    for (std::size_t g = 0; g < instance.groups(); ++g) hits += instance.hit(c, g);
    if (2 * hits > instance.majority_total) chosen.push_back(c);
  }
  return chosen;
}

}  // namespace

void SizeSearch::run(const Instance& instance, Budget& budget, Outcome& outcome) {
  instance_ = &instance;
  largest_scale_ = largest_scale_for(instance);
  const auto is_negative = [](std::int64_t hits) { return hits < 0; };
  negative_ = std::any_of(instance.hits.begin(), instance.hits.end(), is_negative) ||
              std::any_of(instance.base.begin(), instance.base.end(), is_negative);
  // Majority constituents conflict only if the individuals are no trees.
  if (!keep_candidates(majority(instance), budget)) keep_candidates({}, budget);
  outcome.searched = static_cast<std::int64_t>(kept_.size());
  outcome.optimal = true;
  outcome.rounded = false;
  outcome.upper = 0;
  climb(budget);
  prove(budget, outcome);
  if (outcome.optimal) choose_canonical(budget);
  // Where scales are rounded, so are values and bounds. It matters for huge weights in long sentences only.
  const double rounding = visible_rounding(instance, largest_scale_, best_value_);
  if (rounding > 0 && !has_exact_scales(instance, largest_scale_)) {
    outcome.upper = std::max(outcome.upper, to_double(best_value_)) + 2 * rounding;
    outcome.rounded = outcome.optimal;
    outcome.optimal = false;
  }
  outcome.chosen.clear();
  for (const std::uint32_t i : best_) outcome.chosen.push_back(kept_[i]);
  std::sort(outcome.chosen.begin(), outcome.chosen.end());
  outcome.value = best_value_;
}

// If c is in the best tree T, leaving it out is no gain. Without negative hits that means that the score of c is at
// least F(T) q / (D + q), where D is the largest denominator; multiplied with D + q, scores are largest for small
// trees.
bool SizeSearch::keep_candidates(const std::vector<std::uint32_t>& first, Budget& budget) {
  const Instance& instance = *instance_;
  const double value = std::max(plain_value(instance, {}), plain_value(instance, first));
  const std::size_t last = instance.groups() - 1;
  const double threshold = value * static_cast<double>(instance.q) * (1 - 1e-9);
  const auto enough = static_cast<double>(instance.denominator(last, 1) + instance.q);
  kept_.clear();
  for (std::uint32_t c = 0; c < instance.candidates.size(); ++c) {
    double reduced = 0;
    for (std::size_t g = 0; g <= last; ++g) {
      reduced += static_cast<double>(instance.hit(c, g)) / static_cast<double>(instance.denominator(g, 1));
    }
    if (negative_ || reduced * enough >= threshold) kept_.push_back(c);
  }
  std::sort(kept_.begin(), kept_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return precedes(instance.candidates[a], instance.candidates[b]); });
  std::vector<Row> rows;
  for (const std::uint32_t c : kept_) rows.push_back(instance.candidates[c]);
  packing_.build(rows, instance.words, budget);

  best_.clear();
  best_value_ = value_of_kept(best_);
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < kept_.size(); ++i) {
    if (std::binary_search(first.begin(), first.end(), kept_[i])) chosen.push_back(i);
  }
  if (!packing_.compatible(chosen)) return false;
  offer(chosen);
  return true;
}

void SizeSearch::score_kept(std::int64_t count, Scale& scale, Scores& scores) const {
  scale = make_scale(*instance_, count, largest_scale_);
  scores.resize(kept_.size());
  const std::size_t last = instance_->groups() - 1;
  const double least = to_double(best_value_) * static_cast<double>(instance_->q) /
                       static_cast<double>(instance_->denominator(last, count) + instance_->q) * (1 - 1e-9) *
                       static_cast<double>(scale.whole);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    scores[i] = score(*instance_, scale, kept_[i]);
    if (!negative_ && static_cast<double>(scores[i]) < least) scores[i] = 0;
  }
}

Fraction SizeSearch::value_of_kept(const std::vector<std::uint32_t>& chosen) const {
  std::vector<std::uint32_t> candidates;
  for (const std::uint32_t i : chosen) candidates.push_back(kept_[i]);
  return value_of(*instance_, candidates, largest_scale_);
}

bool SizeSearch::offer(const std::vector<std::uint32_t>& chosen) {
  const Fraction value = value_of_kept(chosen);
  if (compare(value, best_value_) <= 0) return false;
  best_value_ = value;
  best_ = chosen;
  std::sort(best_.begin(), best_.end());
  return true;
}

// What one more member costs the tree's value through larger denominators, in units of a scale.
Int128 SizeSearch::marginal_loss(const Scale& scale, std::int64_t count) const {
  double loss = 0;
  for (std::size_t g = 0; g < instance_->groups(); ++g) {
    double hits = static_cast<double>(instance_->base[g]);
    for (const std::uint32_t i : best_) hits += static_cast<double>(instance_->hit(kept_[i], g));
    const auto denominator = static_cast<double>(instance_->denominator(g, count));
    loss += hits * static_cast<double>(instance_->q) / (denominator * denominator);
  }
  return static_cast<Int128>(std::max(loss, 0.0) * static_cast<double>(scale.whole));
}

// A good tree to begin with: choose as if the value were linear around the best tree so far.
void SizeSearch::climb(Budget& budget) {
  Scale scale;
  Scores scores;
  weights_.resize(kept_.size());
  for (int step = 0; step < climbing_steps; ++step) {
    const auto count = static_cast<std::int64_t>(best_.size());
    score_kept(count, scale, scores);
    const Int128 loss = marginal_loss(scale, count);
    for (std::size_t i = 0; i < kept_.size(); ++i) weights_[i] = scores[i] - loss;
    packing_.solve(weights_, budget, false, packed_);
    if (!offer(packed_.chosen)) return;
  }
}

bool SizeSearch::ruled_out(const Fraction& bound, bool strictly) const {
  const auto order = compare(bound, best_value_);
  return strictly ? order < 0 : order <= 0;
}

// What no tree of these sizes exceeds. Denominators are those of the smallest size, the number of members may be
// anything up to the largest. The relaxation is left out where the largest scores already rule all of them out.
Fraction SizeSearch::bound_of(const Range& range, bool strictly, Budget& budget) {
  Scale scale;
  Scores scores;
  budget.work(kept_.size() * (instance_->groups() + 4));
  score_kept(range.low, scale, scores);
  const Int128 base = base_score(*instance_, scale);
  Scores largest = scores;
  const auto high = std::min(static_cast<std::size_t>(range.high), largest.size());
  std::nth_element(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(high), largest.end(),
                   std::greater<>());
  Int128 sum = 0;
  for (std::size_t i = 0; i < high; ++i) sum += std::max(largest[i], Int128{0});
  const Fraction bound{base + sum, scale.whole};
  if (ruled_out(bound, strictly)) return bound;
  const Int128 loss = marginal_loss(scale, range.low);
  for (std::size_t i = 0; i < kept_.size(); ++i) weights_[i] = scores[i] - loss;
  packing_.solve(weights_, budget, false, packed_);
  offer(packed_.chosen);
  return {base + std::min(sum, packed_.upper + loss * range.high), scale.whole};
}

// What no tree of any size exceeds, in one pass over the hits: all that are positive, over the smallest denominators.
double SizeSearch::crude_bound() const {
  double bound = 0;
  for (std::size_t g = 0; g < instance_->groups(); ++g) {
    auto hits = static_cast<double>(instance_->base[g]);
    for (const std::uint32_t c : kept_) hits += static_cast<double>(std::max<std::int64_t>(instance_->hit(c, g), 0));
    bound += std::max(hits, 0.0) / static_cast<double>(instance_->denominator(g, 0));
  }
  return bound;
}

SizeSearch::BestOfSize SizeSearch::best_of_size(std::int64_t count, bool strictly, Budget& budget) {
  Scale scale;
  Scores scores;
  score_kept(count, scale, scores);
  const Int128 base = base_score(*instance_, scale);
  // The point of the relaxation with the multiplier a / b; among equals that with the fewest members.
  BestOfSize result;
  result.bound = {std::numeric_limits<std::int64_t>::max(), 1};
  const auto relax = [&](Int128 a, Int128 b) {
    for (std::size_t i = 0; i < kept_.size(); ++i) weights_[i] = b * scores[i] - a;
    packing_.solve(weights_, budget, strictly, packed_);
    const Fraction bound{b * base + packed_.upper + a * count, b * scale.whole};
    if (compare(bound, result.bound) < 0) result.bound = bound;
    offer(packed_.chosen);
    Point point{static_cast<std::int64_t>(packed_.chosen.size()), 0};
    for (const std::uint32_t i : packed_.chosen) point.value += scores[i];
    if (packed_.exact() && point.members == count) {
      result.exact = true;
      result.chosen = packed_.chosen;
    }
    return point;
  };
  const auto finished = [&] { return result.exact || !packed_.exact() || ruled_out(result.bound, strictly); };

  Point left{0, 0}, right = relax(marginal_loss(scale, count), 1);
  if (finished()) return result;
  if (right.members < count) {
    left = right;
    right = relax(0, 1);
    if (finished()) return result;
  }
  while (right.members > count) {
    // Between the two points the bound is lowest at the slope of their connection.
    const Int128 a = right.value - left.value, b = right.members - left.members;
    const Point middle = relax(a, b);
    if (finished()) return result;
    // Nothing lies above the connection: trees of this size lie on it or below.
    if (b * middle.value - a * middle.members == b * left.value - a * left.members) break;
    (middle.members < count ? left : right) = middle;
  }
  return best_by_table(count, scale, scores, result.bound, budget);
}

SizeSearch::BestOfSize SizeSearch::best_by_table(std::int64_t count, const Scale& scale, const Scores& scores,
                                                 Fraction bound, Budget& budget) {
  std::vector<bool> keep(kept_.size());
  for (std::size_t i = 0; i < kept_.size(); ++i) keep[i] = negative_ || scores[i] > 0;
  const auto members = static_cast<std::size_t>(count);
  Budget part = budget.part(table_steps);
  const auto table = member_table(packing_, scores, keep, members, part);
  budget.settle(part);
  BestOfSize result;
  result.bound = bound;
  if (!table) return result;
  result.exact = true;
  if (members >= table->size()) {  // no tree as good as the best one is so large
    result.bound = {std::numeric_limits<std::int64_t>::min(), 1};
    return result;
  }
  const TableEntry<Int128>& entry = (*table)[members];
  entry.first.for_each([&](std::size_t i) { result.chosen.push_back(static_cast<std::uint32_t>(i)); });
  result.bound = {base_score(*instance_, scale) + entry.value, scale.whole};
  offer(result.chosen);
  return result;
}

// Ranges that bounds can be computed for.
std::vector<SizeSearch::Range> SizeSearch::all_sizes() const {
  const std::int64_t largest = std::min(most_members(*instance_), static_cast<std::int64_t>(kept_.size()));
  std::vector<Range> todo;
  if (negative_) {
    for (std::int64_t count = largest; count >= 0; --count) todo.push_back({count, count});
  } else {
    todo.push_back({0, largest});
  }
  return todo;
}

std::vector<std::int64_t> SizeSearch::sizes_reaching(double enough, Budget& budget) {
  std::vector<std::int64_t> sizes;
  std::vector<Range> todo = all_sizes();
  while (!todo.empty()) {
    const Range range = todo.back();
    todo.pop_back();
    if (to_double(bound_of(range, false, budget)) < enough) continue;
    if (range.low < range.high) {
      const std::int64_t middle = (range.low + range.high) / 2;
      todo.push_back({middle + 1, range.high});
      todo.push_back({range.low, middle});
    } else if (to_double(best_of_size(range.low, false, budget).bound) >= enough) {
      sizes.push_back(range.low);
    }
  }
  return sizes;
}

void SizeSearch::prove(Budget& budget, Outcome& outcome) {
  std::vector<Range> todo = all_sizes();
  while (!todo.empty()) {
    const Range range = todo.back();
    todo.pop_back();
    // With negative hits every size has a range of its own, too many to look at when the time is over.
    if (negative_ && budget.spent()) {
      outcome.optimal = false;
      outcome.upper = crude_bound();
      return;
    }
    const Fraction bound = bound_of(range, false, budget);
    if (ruled_out(bound, false)) continue;
    if (budget.spent()) {
      outcome.optimal = false;
      outcome.upper = std::max(outcome.upper, to_double(bound));
      continue;
    }
    if (range.low < range.high) {
      const std::int64_t middle = (range.low + range.high) / 2;
      todo.push_back({middle + 1, range.high});
      todo.push_back({range.low, middle});
      continue;
    }
    const BestOfSize best = best_of_size(range.low, false, budget);
    if (best.exact || ruled_out(best.bound, false)) continue;
    outcome.optimal = false;
    outcome.upper = std::max(outcome.upper, to_double(best.bound));
  }
}

// Of equally good trees the smallest ones, and of these the first; the value of the best tree is known.
void SizeSearch::choose_canonical(Budget& budget) {
  const auto size = static_cast<std::int64_t>(best_.size());
  std::vector<Range> todo;
  if (size > 0) todo.push_back({0, size - 1});
  while (!todo.empty() && !budget.spent()) {
    const Range range = todo.back();
    todo.pop_back();
    const bool sound = !negative_ || range.low == range.high;
    if (sound && ruled_out(bound_of(range, true, budget), true)) continue;
    if (range.low < range.high) {
      const std::int64_t middle = (range.low + range.high) / 2;
      todo.push_back({middle + 1, range.high});
      todo.push_back({range.low, middle});
      continue;
    }
    BestOfSize best = best_of_size(range.low, true, budget);
    if (best.exact && compare(best.bound, best_value_) == 0) {
      best_ = std::move(best.chosen);
      return;
    }
  }
  BestOfSize best = best_of_size(size, true, budget);
  if (best.exact && compare(best.bound, best_value_) == 0) best_ = std::move(best.chosen);
}

}  // namespace treemean::averaging
