#include "averaging/optima.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "averaging/packing.hpp"
#include "averaging/scores.hpp"
#include "averaging/solver.hpp"

namespace treemean::averaging {
namespace {

using Indices = std::vector<std::uint32_t>;

// What floating point may be wrong by, and far more than that.
constexpr double tolerance = 1e-9;

// A best tree under conditions: some candidates are in, some others out.
struct Node {
  Indices forced, excluded;  // ascending
  Indices chosen;            // ascending, with those forced
  Fraction value;
};

// Of equally good trees: fewer candidates, and then the first in canonical order.
bool comes_first(const Indices& a, const Indices& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

bool better(const Node& a, const Node& b) {
  if (const auto order = compare(a.value, b.value); order != 0) return order > 0;
  return comes_first(a.chosen, b.chosen);
}

struct Worse {
  bool operator()(const Node& a, const Node& b) const { return better(b, a); }
};

// The same instance with its candidates in canonical order.
Instance in_order(const Instance& instance, Indices& order) {
  order.resize(instance.candidates.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return precedes(instance.candidates[a], instance.candidates[b]); });
  Instance result = instance;
  for (std::size_t i = 0; i < order.size(); ++i) {
    result.candidates[i] = instance.candidates[order[i]];
    for (std::size_t g = 0; g < instance.groups(); ++g)
      result.hits[i * instance.groups() + g] = instance.hit(order[i], g);
  }
  return result;
}

// Lawler's scheme: what remains when a best tree is taken out of a set of trees is divided by the first candidate in
// which a tree differs from it, and each part has a best tree of its own.
//
// Where scales are rounded, values are near what they should be. Then all trees are looked at that may belong to the
// best ones, and exact values decide about these.
class Enumeration {
 public:
  Enumeration(const Instance& instance, Budget& budget)
      : instance_(instance),
        budget_(budget),
        largest_scale_(largest_scale_for(instance)),
        exact_(has_exact_scales(instance, largest_scale_)) {}

  std::vector<Node> run(std::size_t limit, bool only_optimal) {
    std::vector<Node> found;
    std::priority_queue<Node, std::vector<Node>, Worse> queue;
    queue.push(solve({}, {}));
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
    for (Node& node : found) valued.emplace_back(exact_value_of(instance_, node.chosen), std::move(node));
    std::sort(valued.begin(), valued.end(), [](const auto& a, const auto& b) {
      if (const auto order = compare(a.first, b.first); order != 0) return order > 0;
      return comes_first(a.second.chosen, b.second.chosen);
    });
    found.clear();
    for (auto& [value, node] : valued) {
      if (only_optimal && compare(value, valued[0].first) != 0) break;
      found.push_back(std::move(node));
    }
  }

  bool fits(std::uint32_t candidate, const Indices& forced) const {
    return std::none_of(forced.begin(), forced.end(), [&](std::uint32_t f) {
      return conflict(instance_.candidates[f], instance_.candidates[candidate]);
    });
  }

  Node solve(Indices forced, Indices excluded) {
    const std::size_t groups = instance_.groups();
    rest_ = instance_;
    rest_.candidates.clear();
    rest_.hits.clear();
    rest_.fixed += static_cast<std::int64_t>(forced.size());
    for (const std::uint32_t f : forced) {
      for (std::size_t g = 0; g < groups; ++g) rest_.base[g] += instance_.hit(f, g);
    }
    Indices free;
    for (std::uint32_t c = 0; c < instance_.candidates.size(); ++c) {
      if (std::binary_search(forced.begin(), forced.end(), c) ||
          std::binary_search(excluded.begin(), excluded.end(), c) || !fits(c, forced)) {
        continue;
      }
      free.push_back(c);
      rest_.candidates.push_back(instance_.candidates[c]);
      for (std::size_t g = 0; g < groups; ++g) rest_.hits.push_back(instance_.hit(c, g));
    }
    solver_.run(rest_, Goal::average, budget_, outcome_);
    if (!outcome_.optimal && !outcome_.rounded) throw Undecided{"the search needs more steps than node_limit allows"};
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
      Node part = solve(std::move(other_forced), std::move(other_excluded));
      if (!only_optimal || !clearly_worse(part.value, best)) queue.push(std::move(part));
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

// How many subsets of the candidates, none of negative weight, weigh as much as the heaviest one.
std::vector<Count> count_heaviest(const Packing& packing, const std::vector<Int128>& weights, Budget& budget) {
  const std::size_t capacity = weights.size();
  std::vector<Count> factors;
  if (packing.graph().unfinished()) throw Undecided{"there are too many conflicts"};
  for (const std::uint32_t v : packing.graph().isolated()) {
    if (weights[v] == 0) factors.push_back(2);
  }
  for (const Component& component : packing.graph().components()) {
    DynamicSet all(capacity);
    for (const std::uint32_t v : component.members) all.insert(v);
    const auto table = member_table(component, weights, all, capacity, budget);
    if (!table) throw Undecided{"counting needs more steps than node_limit allows"};
    Int128 best = 0;
    for (const TableEntry<Int128>& entry : *table) best = std::max(best, entry.value);
    Count count = 0;
    for (const TableEntry<Int128>& entry : *table) {
      if (entry.value == best) count = std::min(count + entry.count, too_many);
    }
    if (count >= too_many) throw Undecided{"there are too many to count"};
    factors.push_back(count);
  }
  return factors;
}

std::vector<Count> count_one_size(const Instance& instance, const Fraction& best, Budget& budget) {
  std::vector<Int128> weights;
  std::vector<Row> rows;
  for (std::size_t c = 0; c < instance.candidates.size(); ++c) {
    const Int128 gain = instance.hits[c] * best.denominator - best.numerator * instance.q;
    if (gain < 0) continue;
    weights.push_back(gain);
    rows.push_back(instance.candidates[c]);
  }
  Packing packing;
  packing.build(std::move(rows), instance.words, budget);
  return count_heaviest(packing, weights, budget);
}

// With different sizes: by number of members, over all numbers, without rounding. `best` may be rounded.
std::vector<Count> count_all_sizes(const Instance& instance, const Fraction& best, Budget& budget) {
  Packing packing;
  packing.build(instance.candidates, instance.words, budget);
  const bool negative = std::any_of(instance.hits.begin(), instance.hits.end(), [](std::int64_t h) { return h < 0; });
  const double enough = to_double(best) * (1 - tolerance);
  std::vector<double> scores(instance.candidates.size());
  std::vector<bool> keep(scores.size());
  std::vector<BigInteger> exact_scores(scores.size());
  BigFraction exact_best;
  Count total = 0;
  for (std::int64_t count = 0; count <= most_members(instance); ++count) {
    // Members of a best tree score at least this much, or leaving them out would be a gain.
    const double least = enough * static_cast<double>(instance.q) /
                         static_cast<double>(instance.denominator(instance.groups() - 1, count) + instance.q);
    std::vector<double> kept;
    for (std::size_t c = 0; c < scores.size(); ++c) {
      scores[c] = 0;
      for (std::size_t g = 0; g < instance.groups(); ++g) {
        scores[c] +=
            static_cast<double>(instance.hit(c, g)) / static_cast<double>(instance.denominator(g, count));
      }
      keep[c] = negative || scores[c] >= least;
      if (keep[c]) kept.push_back(scores[c]);
    }
    const auto members = static_cast<std::size_t>(count);
    if (kept.size() < members) continue;
    std::sort(kept.begin(), kept.end(), std::greater<>());
    double bound = std::accumulate(kept.begin(), kept.begin() + count, 0.0);
    for (std::size_t g = 0; g < instance.groups(); ++g) {
      bound += static_cast<double>(instance.base[g]) / static_cast<double>(instance.denominator(g, count));
    }
    if (bound < enough) continue;
    const BigScale exact = make_big_scale(instance, count);
    BigInteger base = 0;
    for (std::size_t g = 0; g < instance.groups(); ++g) base += exact.units[g] * instance.base[g];
    for (std::size_t c = 0; c < scores.size(); ++c) {
      exact_scores[c] = 0;
      for (std::size_t g = 0; g < instance.groups(); ++g) exact_scores[c] += exact.units[g] * instance.hit(c, g);
    }
    const auto table = member_table(packing, exact_scores, keep, members, budget);
    if (!table) throw Undecided{"counting needs more steps than node_limit allows"};
    if (members >= table->size()) continue;
    const TableEntry<BigInteger>& entry = (*table)[members];
    const BigFraction value{base + entry.value, exact.whole};
    const auto order = compare(value, exact_best);
    if (order > 0) {
      exact_best = value;
      total = entry.count;
    } else if (order == 0) {
      total = std::min(total + entry.count, too_many);
    }
  }
  if (total >= too_many) throw Undecided{"there are too many to count"};
  return {total};
}

}  // namespace

std::vector<Outcome> best_trees(const Instance& instance, std::size_t limit, bool only_optimal, Budget& budget) {
  Indices order;
  const Instance ordered = in_order(instance, order);
  std::vector<Outcome> outcomes;
  for (const Node& node : Enumeration(ordered, budget).run(limit, only_optimal)) {
    Outcome outcome;
    for (const std::uint32_t c : node.chosen) outcome.chosen.push_back(order[c]);
    outcome.value = node.value;
    outcome.searched = static_cast<std::int64_t>(order.size());
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::vector<Count> count_best_trees(const Instance& instance, Budget& budget) {
  Indices order;
  const Instance ordered = in_order(instance, order);
  Solver solver;
  Outcome outcome;
  solver.run(ordered, Goal::average, budget, outcome);
  if (!outcome.optimal && !outcome.rounded) throw Undecided{"the search needs more steps than node_limit allows"};
  return ordered.groups() == 1 ? count_one_size(ordered, outcome.value, budget)
                               : count_all_sizes(ordered, outcome.value, budget);
}

}  // namespace treemean::averaging
