#include "averaging/optima.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>

#include "averaging/packing.hpp"
#include "averaging/scores.hpp"
#include "averaging/solver.hpp"

namespace treemean::averaging {
namespace {

using Indices = std::vector<std::uint32_t>;

constexpr const char* too_many_steps = "the search needs more steps than node_limit allows";
// What floating point may be wrong by, and far more than that.
constexpr double tolerance = 1e-9;
// Counting by tables may take so many steps; then up to so many trees are listed instead.
constexpr std::int64_t optima_steps = 20'000;
constexpr std::size_t most_to_list = 1'000;

// A best tree under conditions: some candidates are in, some others out.
struct Node {
  Indices forced, excluded;  // ascending
  Indices chosen;            // ascending, with those forced
  Fraction value;
};

// Of equally good trees: fewer constituents, then the higher preference, and then the first in canonical
// order.
bool comes_first(const Instance& instance, const Indices& a, const Indices& b) {
  if (const std::int64_t x = instance.cost_of(a), y = instance.cost_of(b); x != y) return x < y;
  if (const std::int64_t x = instance.preference_of(a), y = instance.preference_of(b); x != y) return x > y;
  return a < b;
}

struct Worse {
  const Instance* instance;

  bool operator()(const Node& a, const Node& b) const {
    if (const auto order = compare(a.value, b.value); order != 0) return order < 0;
    return comes_first(*instance, b.chosen, a.chosen);
  }
};

void take_candidate(const Instance& from, std::size_t candidate, Instance& to) {
  to.candidates.push_back(from.candidates[candidate]);
  for (std::size_t g = 0; g < from.groups(); ++g) to.hits.push_back(from.hit(candidate, g));
  if (!from.costs.empty()) to.costs.push_back(from.costs[candidate]);
  if (!from.preferences.empty()) to.preferences.push_back(from.preferences[candidate]);
}

Instance without_candidates(const Instance& instance) {
  Instance result = instance;
  result.candidates.clear();
  result.hits.clear();
  result.costs.clear();
  result.preferences.clear();
  return result;
}

// The same instance with some of its candidates, in canonical order.
Instance in_order(const Instance& instance, Indices& order) {
  sort_canonically(instance, order);
  Instance result = without_candidates(instance);
  for (const std::uint32_t c : order) take_candidate(instance, c, result);
  return result;
}

Indices all_candidates(const Instance& instance) {
  Indices all(instance.candidates.size());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

// The candidates that a best tree can have: leaving one out must be no gain (see
// `SizeSearch::keep_candidates`).
Indices candidates_of_best(const Instance& instance, Budget& budget) {
  Outcome outcome;
  Solver().run(instance, Goal::average, budget, outcome);
  if (!outcome.optimal && !outcome.rounded) throw Undecided{too_many_steps};
  if (std::any_of(instance.hits.begin(), instance.hits.end(), [](std::int64_t h) { return h < 0; }))
    return all_candidates(instance);
  const double least = to_double(outcome.value) * (1 - tolerance);
  Indices result;
  for (std::uint32_t c = 0; c < instance.candidates.size(); ++c) {
    const std::int64_t cost = instance.cost(c);
    double score = 0;
    for (std::size_t g = 0; g < instance.groups(); ++g) {
      score += static_cast<double>(instance.hit(c, g)) / static_cast<double>(instance.denominator(g, cost));
    }
    if (score >= least * least_share(instance, cost, cost) || instance.is_whole(c)) result.push_back(c);
  }
  return result;
}

// Lawler's scheme: what remains when a best tree is taken out of a set of trees is divided by the first
// candidate in which a tree differs from it, and each part has a best tree of its own.
//
// Where scales are rounded, values are near what they should be. Then all trees are looked at that may belong
// to the best ones, and exact values decide about these.
class Enumeration {
 public:
  Enumeration(const Instance& instance, Budget& budget)
      : instance_(instance),
        budget_(budget),
        largest_scale_(largest_scale_for(instance)),
        exact_(has_exact_scales(instance, largest_scale_)) {}

  std::vector<Node> run(std::size_t limit, bool only_optimal) {
    std::vector<Node> found;
    std::priority_queue<Node, std::vector<Node>, Worse> queue(Worse{&instance_});
    if (auto best = solve({}, {})) queue.push(std::move(*best));
    while (!queue.empty()) {
      const Fraction& next = queue.top().value;
      if (only_optimal && !found.empty() && clearly_worse(next, found[0].value)) break;
      if (found.size() >= limit && (exact_ || clearly_worse(next, found[limit - 1].value))) break;
      if (found.size() >= limit + max_rivals) throw Undecided{"too many trees are almost equally good"};
      found.push_back(queue.top());
      queue.pop();
      if (!exact_ || found.size() < limit) divide(Node(found.back()), only_optimal, found[0].value, queue);
    }
    if (!exact_) rank_exactly(found, only_optimal);
    if (found.size() > limit) found.resize(limit);
    return found;
  }

 private:
  // So many trees are looked at beyond those that were asked for, because rounding cannot tell them apart.
  static constexpr std::size_t max_rivals = 10'000;

  // Whether one rounded value is lower than another by more than both can be wrong.
  bool clearly_worse(const Fraction& low, const Fraction& high) const {
    if (exact_) return compare(low, high) < 0;
    const Int128 factor = largest_scale_ / high.denominator;
    const Int128 errors = 4 * sum_of_magnitudes(instance_);
    return compare(low, {high.numerator * factor - errors, high.denominator * factor}) < 0;
  }

  void rank_exactly(std::vector<Node>& found, bool only_optimal) const {
    std::vector<std::pair<BigFraction, Node>> valued;
    valued.reserve(found.size());
    for (Node& node : found) valued.emplace_back(exact_value_of(instance_, node.chosen), std::move(node));
    std::sort(valued.begin(), valued.end(), [&](const auto& a, const auto& b) {
      if (const auto order = compare(a.first, b.first); order != 0) return order > 0;
      return comes_first(instance_, a.second.chosen, b.second.chosen);
    });
    found.clear();
    for (auto& [value, node] : valued) {
      if (only_optimal && compare(value, valued[0].first) != 0) break;
      found.push_back(std::move(node));
    }
  }

  bool fits(std::uint32_t candidate, const Indices& forced) const {
    return std::none_of(forced.begin(), forced.end(),
                        [&](std::uint32_t f) { return instance_.exclude_each_other(f, candidate); });
  }

  // The best tree under conditions; nothing if no chain of the whole sentence is left.
  std::optional<Node> solve(Indices forced, Indices excluded) {
    rest_ = without_candidates(instance_);
    rest_.fixed += instance_.cost_of(forced);
    bool complete = !instance_.labelled;
    for (const std::uint32_t f : forced) {
      for (std::size_t g = 0; g < instance_.groups(); ++g) rest_.base[g] += instance_.hit(f, g);
      complete |= instance_.is_whole(f);
    }
    Indices free;
    for (std::uint32_t c = 0; c < instance_.candidates.size(); ++c) {
      if (std::binary_search(forced.begin(), forced.end(), c) ||
          std::binary_search(excluded.begin(), excluded.end(), c) || !fits(c, forced)) {
        continue;
      }
      free.push_back(c);
      take_candidate(instance_, c, rest_);
      complete |= instance_.is_whole(c);
    }
    if (!complete) return std::nullopt;
    solver_.run(rest_, Goal::average, budget_, outcome_);
    if (!outcome_.optimal && !outcome_.rounded) throw Undecided{too_many_steps};
    Node node{std::move(forced), std::move(excluded), {}, {}};
    node.chosen = node.forced;
    for (const std::uint32_t i : outcome_.chosen) node.chosen.push_back(free[i]);
    std::sort(node.chosen.begin(), node.chosen.end());
    node.value = value_of(instance_, node.chosen, largest_scale_);
    return node;
  }

  template <class Queue>
  void divide(const Node& node, bool only_optimal, const Fraction& best, Queue& queue) {
    Indices forced = node.forced, excluded = node.excluded;
    const auto insert = [](Indices& into, std::uint32_t c) {
      into.insert(std::upper_bound(into.begin(), into.end(), c), c);
    };
    for (std::uint32_t c = 0; c < instance_.candidates.size(); ++c) {
      if (std::binary_search(forced.begin(), forced.end(), c) ||
          std::binary_search(excluded.begin(), excluded.end(), c))
        continue;
      const bool chosen = std::binary_search(node.chosen.begin(), node.chosen.end(), c);
      if (!chosen && !fits(c, forced)) continue;
      Indices other_forced = forced, other_excluded = excluded;
      insert(chosen ? other_excluded : other_forced, c);
      auto part = solve(std::move(other_forced), std::move(other_excluded));
      if (part && (!only_optimal || !clearly_worse(part->value, best))) queue.push(std::move(*part));
      insert(chosen ? forced : excluded, c);
    }
  }

  const Instance& instance_;
  Budget& budget_;
  Int128 largest_scale_;
  bool exact_;
  Solver solver_;
  Instance rest_;
  Outcome outcome_;
};

// Numbers whose product is what was to be counted; nothing if it took too many steps, or there are too many.
using Factors = std::optional<std::vector<Count>>;

// In how many ways a choice that is in conflict with nothing is made best.
Count count_best(Choice choice, const std::vector<Int128>& weights, bool mandatory) {
  Int128 best = mandatory ? weights[choice.begin] : 0;
  Count count = mandatory ? 0 : 1;
  for (std::uint32_t c = choice.begin; c < choice.end; ++c) {
    if (weights[c] > best) {
      best = weights[c];
      count = 0;
    }
    if (weights[c] == best) count += 1;
  }
  return count;
}

// How many subsets of the candidates weigh as much as the heaviest one.
Factors count_heaviest(const Packing& packing, const std::vector<Int128>& weights, std::size_t most,
                       Budget& budget) {
  std::vector<Count> factors;
  if (packing.graph().unfinished()) return std::nullopt;
  for (const std::uint32_t v : packing.graph().isolated())
    factors.push_back(count_best(packing.choice(v), weights, false));
  for (std::size_t i = 0; i < packing.free().size(); ++i) {
    const bool mandatory = packing.has_mandatory() && i + 1 == packing.free().size();
    factors.push_back(count_best(packing.free()[i], weights, mandatory));
  }
  for (const Component& component : packing.graph().components()) {
    const auto table =
        member_table(packing, component, weights, std::vector<bool>(weights.size(), true), most, budget);
    if (!table) return std::nullopt;
    Int128 best = 0;
    for (const TableEntry<Int128>& entry : *table) {
      if (entry.count != 0) best = std::max(best, entry.value);
    }
    Count count = 0;
    for (const TableEntry<Int128>& entry : *table) {
      if (entry.count != 0 && entry.value == best) count = std::min(count + entry.count, too_many);
    }
    if (count >= too_many) return std::nullopt;
    factors.push_back(count);
  }
  std::erase(factors, Count{1});
  return factors;
}

Factors count_one_size(const Instance& instance, Budget& budget) {
  Outcome outcome;
  RatioSearch().run(instance, budget, outcome);
  if (!outcome.optimal) return std::nullopt;
  const Fraction& best = outcome.value;
  std::vector<Int128> weights;
  Indices kept;
  for (std::uint32_t c = 0; c < instance.candidates.size(); ++c) {
    const Int128 gain =
        instance.hits[c] * best.denominator - best.numerator * (instance.q * Int128{instance.cost(c)});
    if (gain < 0 && !instance.is_whole(c)) continue;
    weights.push_back(gain);
    kept.push_back(c);
  }
  Packing packing;
  packing.build(instance, kept, budget);
  return count_heaviest(packing, weights, static_cast<std::size_t>(most_members(instance)), budget);
}

// With different sizes: by number of members, without rounding.
Factors count_all_sizes(const Instance& instance, Budget& budget) {
  SizeSearch search;
  Outcome outcome;
  search.run(instance, budget, outcome);
  if (!outcome.optimal && !outcome.rounded) return std::nullopt;
  const double enough = to_double(outcome.value) * (1 - tolerance);
  const bool negative =
      std::any_of(instance.hits.begin(), instance.hits.end(), [](std::int64_t h) { return h < 0; });
  const std::size_t groups = instance.groups();
  Packing packing;
  BigFraction best;
  Count total = 0;
  for (const std::int64_t count : search.sizes_reaching(enough, budget)) {
    const BigScale scale = make_big_scale(instance, count);
    BigInteger base = 0;
    for (std::size_t g = 0; g < groups; ++g) base += scale.units[g] * instance.base[g];
    Indices kept;
    std::vector<BigInteger> scores;
    for (std::uint32_t c = 0; c < instance.candidates.size(); ++c) {
      double rough = 0;
      BigInteger exact = 0;
      for (std::size_t g = 0; g < groups; ++g) {
        rough +=
            static_cast<double>(instance.hit(c, g)) / static_cast<double>(instance.denominator(g, count));
        exact += scale.units[g] * instance.hit(c, g);
      }
      // Members of a best tree score at least this much, or leaving them out would be a gain.
      const std::int64_t cost = instance.cost(c);
      if (cost > count) continue;
      if (rough < enough * least_share(instance, count, cost) && !negative && !instance.is_whole(c)) continue;
      kept.push_back(c);
      scores.push_back(std::move(exact));
    }
    packing.build(instance, kept, budget);
    const auto members = static_cast<std::size_t>(count);
    const auto table = member_table(packing, scores, std::vector<bool>(scores.size(), true), members, budget);
    if (!table) return std::nullopt;
    if (members >= table->size() || (*table)[members].count == 0) continue;
    const TableEntry<BigInteger>& entry = (*table)[members];
    const BigFraction value{base + entry.value, scale.whole};
    const auto order = compare(value, best);
    if (order > 0) {
      best = value;
      total = entry.count;
    } else if (order == 0) {
      total = std::min(total + entry.count, too_many);
    }
  }
  if (total >= too_many) return std::nullopt;
  return std::vector<Count>{total};
}

}  // namespace

std::vector<Outcome> best_trees(const Instance& instance, std::size_t limit, bool only_optimal,
                                Budget& budget) {
  Indices order = only_optimal ? candidates_of_best(instance, budget) : all_candidates(instance);
  const Instance ordered = in_order(instance, order);
  std::vector<Outcome> outcomes;
  for (const Node& node : Enumeration(ordered, budget).run(limit, only_optimal)) {
    Outcome outcome;
    for (const std::uint32_t c : node.chosen) outcome.chosen.push_back(order[c]);
    outcome.value = node.value;
    outcome.searched = static_cast<std::int64_t>(instance.candidates.size());
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::vector<Count> count_best_trees(const Instance& instance, Budget& budget) {
  Indices order = candidates_of_best(instance, budget);
  const Instance ordered = in_order(instance, order);
  Budget part = budget.part(optima_steps);
  const auto counted = ordered.groups() == 1 ? count_one_size(ordered, part) : count_all_sizes(ordered, part);
  budget.settle(part);
  if (counted) return *counted;
  // Tables of large components are too large, but perhaps there are only a few best trees.
  const std::vector<Node> listed = Enumeration(ordered, budget).run(most_to_list + 1, true);
  if (listed.size() > most_to_list) throw Undecided{"there are too many to count"};
  return {listed.size()};
}

}  // namespace treemean::averaging
