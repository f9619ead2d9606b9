#include "averaging/ratio.hpp"

#include <algorithm>

namespace treemean::averaging {
namespace {

// What a candidate adds beyond the value λ = A / B, times B.
Int128 gain(std::int64_t hits, const Fraction& value, std::int64_t q) {
  return hits * value.denominator - value.numerator * q;
}

// Candidates with more hits than this add something.
std::int64_t most_without_gain(const Fraction& value, std::int64_t q) {
  return static_cast<std::int64_t>(floor_division(value.numerator * q, value.denominator));
}

// A value to begin with: the best tree of majority constituents, which never conflict. Without a majority rule,
// the tree without candidates.
Fraction first_value(const Instance& instance) {
  const Fraction trivial{instance.base[0], instance.denominator(0, 0)};
  Fraction value = trivial;
  if (instance.majority_total <= 0) return value;
  while (true) {
    Fraction next = trivial;
    const std::int64_t enough = std::max(instance.majority_total / 2, most_without_gain(value, instance.q));
    for (const std::int64_t hits : instance.hits) {
      if (hits > enough) {
        next.numerator += hits;
        next.denominator += instance.q;
      }
    }
    if (next.numerator * value.denominator <= value.numerator * next.denominator) return value;
    value = next;
  }
}

}  // namespace

void RatioSearch::keep_candidates(const Instance& instance, const Fraction& value, Budget& budget) {
  const std::int64_t enough = most_without_gain(value, instance.q);
  kept_.clear();
  for (std::uint32_t c = 0; c < instance.candidates.size(); ++c) {
    if (instance.hits[c] > enough) kept_.push_back(c);
  }
  std::sort(kept_.begin(), kept_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return precedes(instance.candidates[a], instance.candidates[b]); });
  rows_.clear();
  for (const std::uint32_t c : kept_) rows_.push_back(instance.candidates[c]);
  packing_.build(rows_, instance.words, budget);
}

void RatioSearch::run(const Instance& instance, Budget& budget, Outcome& outcome) {
  const Int128 base = instance.base[0];
  const Int128 empty_denominator = instance.denominator(0, 0);
  Fraction value = first_value(instance);
  keep_candidates(instance, value, budget);
  outcome.searched = static_cast<std::int64_t>(kept_.size());
  outcome.optimal = true;
  outcome.rounded = false;
  weights_.resize(kept_.size());

  // The candidates of the current value, in case the search ends before it finds others.
  best_.clear();
  for (std::uint32_t i = 0; i < kept_.size(); ++i) {
    if (instance.majority_total > 0 && 2 * instance.hits[kept_[i]] > instance.majority_total) best_.push_back(i);
  }
  if (!packing_.compatible(best_)) {  // the individuals are no trees
    Instance plain = instance;
    plain.majority_total = 0;
    run(plain, budget, outcome);
    return;
  }
  while (true) {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      weights_[i] = gain(instance.hits[kept_[i]], value, instance.q);
    }
    packing_.solve(weights_, budget, false, packed_);
    // How far the value is from being the best one, times B: the empty tree lacks this much, what was chosen adds.
    const Int128 lack = base * value.denominator - value.numerator * empty_denominator;
    const bool better = lack + packed_.value > 0;
    if (!packed_.exact()) {
      // Every ratio is at most λ + (lack + upper) / (B D), and D is at least that of the tree without candidates.
      outcome.optimal = false;
      outcome.upper = to_double(value) + std::max(0.0, to_double({lack + packed_.upper, value.denominator}) /
                                                           static_cast<double>(empty_denominator));
    }
    if (better || outcome.optimal) best_ = packed_.chosen;
    if (better) {
      value = {base, empty_denominator + instance.q * static_cast<Int128>(best_.size())};
      for (const std::uint32_t i : best_) value.numerator += instance.hits[kept_[i]];
    }
    if (!better || !outcome.optimal) break;
  }
  if (outcome.optimal && packed_.ties_open) {
    packing_.solve(weights_, budget, true, packed_);
    if (packed_.exact()) best_ = packed_.chosen;
  }
  outcome.chosen.clear();
  for (const std::uint32_t i : best_) outcome.chosen.push_back(kept_[i]);
  std::sort(outcome.chosen.begin(), outcome.chosen.end());
  outcome.value = value;
}

}  // namespace treemean::averaging
