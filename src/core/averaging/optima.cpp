#include "averaging/optima.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "averaging/packing.hpp"
#include "averaging/scores.hpp"
#include "averaging/sentence.hpp"

namespace treemean::averaging {
namespace {

using Indices = std::vector<std::uint32_t>;

// A best tree under conditions: some candidates are in, some others out.
struct Node {
  Indices forced, excluded;  // ascending
  Indices chosen;            // ascending, with those forced
  Fraction value;
};

bool better(const Node& a, const Node& b) {
  if (const auto order = compare(a.value, b.value); order != 0) return order > 0;
  if (a.chosen.size() != b.chosen.size()) return a.chosen.size() < b.chosen.size();
  return a.chosen < b.chosen;
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

void require_exact_scales(const Instance& instance) {
  if (instance.groups() == 1) return;
  const Int128 largest = largest_scale_for(instance);
  const auto sizes = static_cast<std::int64_t>(instance.candidates.size());
  for (std::int64_t count = 0; count <= std::min(std::max<std::int64_t>(instance.words - 2, 0), sizes); ++count) {
    if (!make_scale(instance, count, largest).exact)
      throw Undecided{"individuals have too many different sizes for exact ties"};
  }
}

// Lawler's scheme: what remains when a best tree is taken out of a set of trees is divided by the first candidate in
// which a tree differs from it, and each part has a best tree of its own.
class Enumeration {
 public:
  Enumeration(const Instance& instance, std::int64_t node_limit, Budget& budget)
      : instance_(instance), budget_(budget) {
    options_.node_limit = node_limit;
  }

  std::vector<Node> run(std::size_t limit, bool only_optimal) {
    std::vector<Node> found;
    std::priority_queue<Node, std::vector<Node>, Worse> queue;
    queue.push(solve({}, {}));
    while (found.size() < limit && !queue.empty()) {
      if (only_optimal && !found.empty() && compare(queue.top().value, found[0].value) < 0) break;
      found.push_back(queue.top());
      queue.pop();
      if (found.size() < limit) divide(Node(found.back()), only_optimal, found[0].value, queue);
    }
    return found;
  }

 private:
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
    solver_.run(rest_, options_, budget_, outcome_);
    if (!outcome_.optimal) throw Undecided{"the search would need more steps"};
    Node node{std::move(forced), std::move(excluded), {}, {}};
    node.chosen = node.forced;
    for (const std::uint32_t i : outcome_.chosen) node.chosen.push_back(free[i]);
    std::sort(node.chosen.begin(), node.chosen.end());
    node.value = value_of(instance_, node.chosen, largest_scale_for(instance_));
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
      if (!only_optimal || compare(part.value, best) == 0) queue.push(std::move(part));
      insert(chosen ? forced : excluded, c);
    }
  }

  const Instance& instance_;
  Budget& budget_;
  Options options_;
  Solver solver_;
  Instance rest_;
  Outcome outcome_;
};

// How many subsets of the candidates, none of negative weight, weigh as much as the heaviest one.
std::vector<Count> count_heaviest(const Packing& packing, const std::vector<Int128>& weights, Budget& budget) {
  const std::size_t capacity = weights.size();
  std::vector<Count> factors;
  if (packing.graph().overflowed()) throw Undecided{"there are too many conflicts to count"};
  for (const std::uint32_t v : packing.graph().isolated()) {
    if (weights[v] == 0) factors.push_back(2);
  }
  for (const Component& component : packing.graph().components()) {
    DynamicSet all(capacity);
    for (const std::uint32_t v : component.members) all.insert(v);
    const auto table = member_table(component, weights, all, capacity, capacity, budget);
    if (!table) throw Undecided{"counting would need more steps"};
    Int128 best = 0;
    for (const TableEntry& entry : *table) best = std::max(best, entry.value);
    Count count = 0;
    for (const TableEntry& entry : *table) {
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
  packing.build(std::move(rows), instance.words);
  return count_heaviest(packing, weights, budget);
}

// With different sizes: by number of members, over all numbers.
std::vector<Count> count_all_sizes(const Instance& instance, const Fraction& best, Budget& budget) {
  Packing packing;
  packing.build(instance.candidates, instance.words);
  const Int128 largest_scale = largest_scale_for(instance);
  const bool negative = std::any_of(instance.hits.begin(), instance.hits.end(), [](std::int64_t h) { return h < 0; });
  const std::size_t largest =
      std::min(static_cast<std::size_t>(std::max<std::int64_t>(instance.words - 2, 0)), instance.candidates.size());
  std::vector<Int128> scores(instance.candidates.size());
  std::vector<bool> keep(scores.size());
  Count total = 0;
  for (std::size_t count = 0; count <= largest; ++count) {
    const Scale scale = make_scale(instance, static_cast<std::int64_t>(count), largest_scale);
    // Members of a best tree score at least this much, or leaving them out would be a gain.
    const double least =
        to_double(best) * static_cast<double>(instance.q) /
        static_cast<double>(instance.denominator(instance.groups() - 1, static_cast<std::int64_t>(count)) +
                            instance.q) *
        (1 - 1e-9) * static_cast<double>(scale.whole);
    std::vector<Int128> largest_scores;
    for (std::size_t c = 0; c < scores.size(); ++c) {
      scores[c] = score(instance, scale, c);
      keep[c] = negative || static_cast<double>(scores[c]) >= least;
      if (keep[c]) largest_scores.push_back(scores[c]);
    }
    if (largest_scores.size() < count) continue;
    std::sort(largest_scores.begin(), largest_scores.end(), std::greater<>());
    const Int128 base = base_score(instance, scale);
    const Int128 bound =
        std::accumulate(largest_scores.begin(), largest_scores.begin() + static_cast<std::ptrdiff_t>(count), base);
    if (compare({bound, scale.whole}, best) < 0) continue;
    const auto table = member_table(packing, scores, keep, count, budget);
    if (!table) throw Undecided{"counting would need more steps"};
    if (count >= table->size()) continue;
    const TableEntry& entry = (*table)[count];
    if (compare({base + entry.value, scale.whole}, best) == 0) total = std::min(total + entry.count, too_many);
  }
  if (total >= too_many) throw Undecided{"there are too many to count"};
  return {total};
}

}  // namespace

std::vector<Outcome> best_trees(const Instance& instance, std::size_t limit, bool only_optimal, std::int64_t node_limit,
                                Budget& budget) {
  Indices order;
  const Instance ordered = in_order(instance, order);
  if (only_optimal) require_exact_scales(ordered);
  std::vector<Outcome> outcomes;
  for (const Node& node : Enumeration(ordered, node_limit, budget).run(limit, only_optimal)) {
    Outcome outcome;
    for (const std::uint32_t c : node.chosen) outcome.chosen.push_back(order[c]);
    outcome.value = node.value;
    outcome.searched = static_cast<std::int64_t>(order.size());
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::vector<Count> count_best_trees(const Instance& instance, std::int64_t node_limit, Budget& budget) {
  Indices order;
  const Instance ordered = in_order(instance, order);
  require_exact_scales(ordered);
  Solver solver;
  Outcome outcome;
  Options options;
  options.node_limit = node_limit;
  solver.run(ordered, options, budget, outcome);
  if (!outcome.optimal) throw Undecided{"the search would need more steps"};
  return ordered.groups() == 1 ? count_one_size(ordered, outcome.value, budget)
                               : count_all_sizes(ordered, outcome.value, budget);
}

}  // namespace treemean::averaging
