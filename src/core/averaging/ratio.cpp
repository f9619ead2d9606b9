#include "averaging/ratio.hpp"

#include <algorithm>
#include <utility>

#include "averaging/scores.hpp"

namespace treemean::averaging {
namespace {

// What a candidate adds beyond the value λ = A / B, times B.
Int128 gain(std::int64_t hits, const Fraction& value, std::int64_t weight) {
  return hits * value.denominator - value.numerator * weight;
}

// Candidates of cost 1 with more hits than this add something.
std::int64_t most_without_gain(const Fraction& value, std::int64_t q) {
  return static_cast<std::int64_t>(floor_division(value.numerator * q, value.denominator));
}

Fraction value_of(const Instance& instance, std::span<const std::uint32_t> chosen) {
  Fraction value{instance.base[0], instance.denominator(0, instance.cost_of(chosen))};
  for (const std::uint32_t c : chosen) value.numerator += instance.hits[c];
  return value;
}

// A value to begin with: the best tree of majority constituents, which never conflict. Without a majority
// rule, the tree without candidates.
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

// The same with labels: also the tree, as numbers of candidates, ascending.
Fraction first_labelled_tree(const Instance& instance, std::vector<std::uint32_t>& tree) {
  tree = smallest_tree(instance);
  Fraction value = value_of(instance, tree);
  while (instance.majority_total > 0) {
    std::vector<std::uint32_t> next = majority_tree(instance, value);
    const Fraction next_value = value_of(instance, next);
    if (compare(next_value, value) <= 0) break;
    value = next_value;
    tree = std::move(next);
  }
  return value;
}

}  // namespace

void RatioSearch::keep_candidates(const Instance& instance, const Fraction& value, Budget& budget) {
  const std::int64_t enough = most_without_gain(value, instance.q);
  kept_.clear();
  for (std::uint32_t c = 0; c < instance.candidates.size(); ++c) {
    const bool gains =
        instance.labelled
            ? gain(instance.hits[c], value, instance.q * instance.costs[c]) > 0 || instance.is_whole(c)
            : instance.hits[c] > enough;
    if (gains) kept_.push_back(c);
  }
  sort_canonically(instance, kept_);
  packing_.build(instance, kept_, budget);
}

// The tree of the first value, as numbers of kept candidates.
void RatioSearch::begin_with(const Instance& instance, std::span<const std::uint32_t> labelled_tree) {
  best_.clear();
  for (std::uint32_t i = 0; i < kept_.size(); ++i) {
    const bool taken =
        instance.labelled
            ? std::binary_search(labelled_tree.begin(), labelled_tree.end(), kept_[i])
            : instance.majority_total > 0 && 2 * instance.hits[kept_[i]] > instance.majority_total;
    if (taken) best_.push_back(i);
  }
}

void RatioSearch::run(const Instance& instance, Budget& budget, Outcome& outcome) {
  const Int128 base = instance.base[0];
  const Int128 empty_denominator = instance.denominator(0, 0);
  std::vector<std::uint32_t> labelled_tree;
  Fraction value = instance.labelled ? first_labelled_tree(instance, labelled_tree) : first_value(instance);
  keep_candidates(instance, value, budget);
  outcome.searched = static_cast<std::int64_t>(kept_.size());
  outcome.optimal = true;
  outcome.rounded = false;
  weights_.resize(kept_.size());

  // The candidates of the current value, in case the search ends before it finds others.
  begin_with(instance, labelled_tree);
  if (!packing_.compatible(best_)) {  // the individuals are no trees
    Instance plain = instance;
    plain.majority_total = 0;
    run(plain, budget, outcome);
    return;
  }
  while (true) {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      weights_[i] = gain(instance.hits[kept_[i]], value, instance.q * instance.cost(kept_[i]));
    }
    packing_.solve(weights_, budget, false, packed_);
    // How far the value is from being the best one, times B: the empty tree lacks this much, what was chosen
    // adds.
    const Int128 lack = base * value.denominator - value.numerator * empty_denominator;
    const bool better = lack + packed_.value > 0;
    if (!packed_.exact()) {
      // Every ratio is at most λ + (lack + upper) / (B D), and D is at least that of the tree without
      // candidates.
      outcome.optimal = false;
      outcome.upper = to_double(value) + std::max(0.0, to_double({lack + packed_.upper, value.denominator}) /
                                                           static_cast<double>(empty_denominator));
    }
    if (better || outcome.optimal) best_ = packed_.chosen;
    if (better) {
      value = {base, empty_denominator};
      for (const std::uint32_t i : best_) {
        value.numerator += instance.hits[kept_[i]];
        value.denominator += Int128{instance.q} * instance.cost(kept_[i]);
      }
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
