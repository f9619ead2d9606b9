#include "averaging/sizes.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "averaging/tables.hpp"

namespace treemean::averaging {
namespace {

constexpr std::int64_t sizes_steps = 50'000;
constexpr int climbing_steps = 10;

// A tree to begin with: candidates with a majority; of those of one set the one that is farthest above it.
std::vector<std::uint32_t> majority(const Instance& instance) {
  if (instance.majority_total <= 0) return smallest_tree(instance);
  return majority_tree(instance, {instance.majority_total, Int128{2} * instance.q});
}

}  // namespace

void SizeSearch::run(const Instance& instance, Budget& budget, Outcome& outcome) {
  instance_ = &instance;
  largest_scale_ = largest_scale_for(instance);
  const auto is_negative = [](std::int64_t hits) { return hits < 0; };
  negative_ = std::any_of(instance.hits.begin(), instance.hits.end(), is_negative) ||
              std::any_of(instance.base.begin(), instance.base.end(), is_negative);
  // Majority constituents conflict only if the individuals are no trees.
  if (!keep_candidates(majority(instance), budget)) keep_candidates(smallest_tree(instance), budget);
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

// If c is in the best tree T, leaving it out is no gain, so that the score of c is at least a share of F(T)
// (see `least_share`; without negative hits). Divided by that share, scores are largest for small trees.
bool SizeSearch::keep_candidates(const std::vector<std::uint32_t>& first, Budget& budget) {
  const Instance& instance = *instance_;
  const std::vector<std::uint32_t> smallest = smallest_tree(instance);
  const double value = std::max(plain_value(instance, smallest), plain_value(instance, first));
  kept_.clear();
  for (std::uint32_t c = 0; c < instance.candidates.size(); ++c) {
    double reduced = 0;
    const std::int64_t cost = instance.cost(c);
    for (std::size_t g = 0; g < instance.groups(); ++g) {
      reduced += static_cast<double>(instance.hit(c, g)) / static_cast<double>(instance.denominator(g, cost));
    }
    const bool enough = reduced >= value * least_share(instance, cost, cost) * (1 - 1e-9);
    if (negative_ || enough || instance.is_whole(c)) kept_.push_back(c);
  }
  sort_canonically(instance, kept_);
  packing_.build(instance, kept_, budget);
  // In canonical order the whole sentence comes last.
  whole_ = kept_.size();
  while (whole_ > 0 && instance.is_whole(kept_[whole_ - 1])) --whole_;

  std::vector<std::uint32_t> chosen;
  best_.clear();
  for (std::uint32_t i = 0; i < kept_.size(); ++i) {
    if (std::binary_search(first.begin(), first.end(), kept_[i])) chosen.push_back(i);
    if (std::binary_search(smallest.begin(), smallest.end(), kept_[i])) best_.push_back(i);
  }
  best_value_ = value_of_kept(best_);
  if (!packing_.compatible(chosen)) return false;
  offer(chosen);
  return true;
}

void SizeSearch::score_kept(std::int64_t count, Scale& scale, Scores& scores) const {
  scale = make_scale(*instance_, count, largest_scale_);
  scores.resize(kept_.size());
  const double enough = to_double(best_value_) * (1 - 1e-9) * static_cast<double>(scale.whole);
  const double least = enough * least_share(*instance_, count, 1);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    scores[i] = score(*instance_, scale, kept_[i]);
    if (negative_) continue;
    if (!instance_->labelled) {
      if (static_cast<double>(scores[i]) < least) scores[i] = 0;
    } else if (const std::int64_t cost = instance_->costs[kept_[i]];
               cost <= count &&
               static_cast<double>(scores[i]) < enough * least_share(*instance_, count, cost) && i < whole_) {
      scores[i] = 0;
    }
  }
}

std::int64_t SizeSearch::cost_of_kept(const std::vector<std::uint32_t>& chosen) const {
  if (!instance_->labelled) return static_cast<std::int64_t>(chosen.size());
  std::int64_t cost = 0;
  for (const std::uint32_t i : chosen) cost += instance_->costs[kept_[i]];
  return cost;
}

Fraction SizeSearch::value_of_kept(const std::vector<std::uint32_t>& chosen) const {
  std::vector<std::uint32_t> candidates;
  candidates.reserve(chosen.size());
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
    const std::int64_t count = cost_of_kept(best_);
    score_kept(count, scale, scores);
    const Int128 loss = marginal_loss(scale, count);
    for (std::size_t i = 0; i < kept_.size(); ++i) weights_[i] = scores[i] - loss * instance_->cost(kept_[i]);
    packing_.solve(weights_, budget, false, packed_);
    if (!offer(packed_.chosen)) return;
  }
}

bool SizeSearch::ruled_out(const Fraction& bound, bool strictly) const {
  const auto order = compare(bound, best_value_);
  return strictly ? order < 0 : order <= 0;
}

// What the scores of no tree up to a size exceed, whatever is in conflict.
Int128 SizeSearch::largest_sum(const Scores& scores, std::int64_t size) const {
  Int128 sum = 0;
  if (instance_->labelled) {
    // Chains may cost nothing where every set of a binary tree has a label anyway.
    for (std::size_t i = 0, end = 0; i < scores.size(); i = end) {
      Int128 best = i < whole_ ? Int128{0} : scores[i];
      for (end = i; end < scores.size() && instance_->same_set(kept_[i], kept_[end]); ++end)
        best = std::max(best, scores[end]);
      sum += best;
    }
    return sum;
  }
  Scores largest = scores;
  const auto high = std::min(static_cast<std::size_t>(size), largest.size());
  std::nth_element(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(high), largest.end(),
                   std::greater<>());
  for (std::size_t i = 0; i < high; ++i) sum += std::max(largest[i], Int128{0});
  return sum;
}

// What no tree of these sizes exceeds. Denominators are those of the smallest size, the number of members may
// be anything up to the largest. The relaxation is left out where the largest scores already rule all of them
// out.
Fraction SizeSearch::bound_of(const Range& range, bool strictly, Budget& budget) {
  Scale scale;
  Scores scores;
  budget.work(kept_.size() * (instance_->groups() + 4));
  score_kept(range.low, scale, scores);
  const Int128 base = base_score(*instance_, scale);
  const Int128 sum = largest_sum(scores, range.high);
  const Fraction bound{base + sum, scale.whole};
  if (ruled_out(bound, strictly)) return bound;
  const Int128 loss = marginal_loss(scale, range.low);
  for (std::size_t i = 0; i < kept_.size(); ++i) weights_[i] = scores[i] - loss * instance_->cost(kept_[i]);
  packing_.solve(weights_, budget, false, packed_);
  offer(packed_.chosen);
  return {base + std::min(sum, packed_.upper + loss * range.high), scale.whole};
}

// What no tree of any size exceeds, in one pass over the hits: all that are positive, over the smallest
// denominators.
double SizeSearch::crude_bound() const {
  double bound = 0;
  for (std::size_t g = 0; g < instance_->groups(); ++g) {
    auto hits = static_cast<double>(instance_->base[g]);
    for (const std::uint32_t c : kept_)
      hits += static_cast<double>(std::max<std::int64_t>(instance_->hit(c, g), 0));
    bound += std::max(hits, 0.0) / static_cast<double>(instance_->denominator(g, 0));
  }
  return bound;
}

// The best of the trees that cost least.
SizeSearch::Point SizeSearch::smallest_point(const Scores& scores, bool canonical, Budget& budget) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = whole_; i < kept_.size(); ++i) least = std::min(least, instance_->costs[kept_[i]]);
  Int128 best = 0;
  bool found = false;
  for (std::size_t i = whole_; i < kept_.size(); ++i) {
    if (instance_->costs[kept_[i]] != least) continue;
    best = found ? std::max(best, scores[i]) : scores[i];
    found = true;
  }
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const std::int64_t cost = instance_->costs[kept_[i]];
    if (i < whole_) weights_[i] = cost == 0 ? scores[i] : Int128{-1};
    else weights_[i] = cost == least ? scores[i] : best - 1;
  }
  packing_.solve(weights_, budget, canonical, packed_);
  offer(packed_.chosen);
  Point point{cost_of_kept(packed_.chosen), 0};
  for (const std::uint32_t i : packed_.chosen) point.value += scores[i];
  return point;
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
    for (std::size_t i = 0; i < kept_.size(); ++i)
      weights_[i] = b * scores[i] - a * instance_->cost(kept_[i]);
    packing_.solve(weights_, budget, strictly, packed_);
    const Fraction bound{b * base + packed_.upper + a * count, b * scale.whole};
    if (compare(bound, result.bound) < 0) result.bound = bound;
    offer(packed_.chosen);
    Point point{cost_of_kept(packed_.chosen), 0};
    for (const std::uint32_t i : packed_.chosen) point.value += scores[i];
    if (packed_.exact() && point.members == count) {
      result.exact = true;
      result.chosen = packed_.chosen;
    }
    return point;
  };
  const auto finished = [&] { return result.exact || !packed_.exact() || ruled_out(result.bound, strictly); };

  Point left{0, 0}, right{0, 0};
  if (instance_->labelled) {
    // The smallest trees are no longer empty ones.
    left = smallest_point(scores, strictly, budget);
    if (left.members > count) {
      result.exact = true;
      result.bound = {std::numeric_limits<std::int64_t>::min(), 1};
      return result;
    }
    if (left.members == count && packed_.exact()) {
      result.exact = true;
      result.chosen = packed_.chosen;
      result.bound = {base + left.value, scale.whole};
      return result;
    }
  }
  right = relax(marginal_loss(scale, count), 1);
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
  for (std::size_t i = 0; i < kept_.size(); ++i) keep[i] = negative_ || scores[i] > 0 || i >= whole_;
  const auto members = static_cast<std::size_t>(count);
  Budget part = budget.part(sizes_steps);
  const auto table = member_table(packing_, scores, keep, members, part);
  budget.settle(part);
  BestOfSize result;
  result.bound = bound;
  if (!table) return result;
  result.exact = true;
  if (members >= table->size() ||
      (*table)[members].count == 0) {  // no tree as good as the best one is so large
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
  const std::int64_t most = most_members(*instance_);
  const std::int64_t largest =
      instance_->labelled ? most : std::min(most, static_cast<std::int64_t>(kept_.size()));
  std::vector<Range> todo;
  if (negative_) {
    for (std::int64_t count = largest; count >= 0; --count) todo.push_back({count, count});
  } else {
    todo.push_back({0, largest});
  }
  return todo;
}

// Puts the halves of a range of several sizes on a stack, the smaller sizes on top.
void SizeSearch::halve(const Range& range, std::vector<Range>& todo) {
  const std::int64_t middle = (range.low + range.high) / 2;
  todo.push_back({middle + 1, range.high});
  todo.push_back({range.low, middle});
}

std::vector<std::int64_t> SizeSearch::sizes_reaching(double enough, Budget& budget) {
  std::vector<std::int64_t> sizes;
  std::vector<Range> todo = all_sizes();
  while (!todo.empty()) {
    const Range range = todo.back();
    todo.pop_back();
    if (to_double(bound_of(range, false, budget)) < enough) continue;
    if (range.low < range.high) {
      halve(range, todo);
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
      halve(range, todo);
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
  const std::int64_t size = cost_of_kept(best_);
  std::vector<Range> todo;
  if (size > 0) todo.push_back({0, size - 1});
  while (!todo.empty() && !budget.spent()) {
    const Range range = todo.back();
    todo.pop_back();
    const bool sound = !negative_ || range.low == range.high;
    if (sound && ruled_out(bound_of(range, true, budget), true)) continue;
    if (range.low < range.high) {
      halve(range, todo);
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
