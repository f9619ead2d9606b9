// The heaviest independent set of a graph, by reductions, minimum cuts, and branch and bound.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/conflicts.hpp"
#include "averaging/min_cut.hpp"
#include "averaging/vertex_set.hpp"

namespace treemean::averaging {

// Set: a BasicSet that can hold all vertices. Weight: a signed integer whose range is more than four times
// the sum of all weights. Weights of the vertices that are searched are positive.
template <class Set, class Weight>
class BranchAndBound {
 public:
  struct Answer {
    bool found = false;  // a set heavier than was asked for
    Weight value{};      // its weight
    Weight upper{};      // no set is heavier than this, or than what was asked for
    Set chosen = Set(0);
  };

  BranchAndBound(const Component& graph, std::vector<Weight> weights, Budget& budget)
      : size_(graph.size()), weights_(std::move(weights)), budget_(budget), residual_(size_) {
    adjacent_.assign(size_, Set(size_));
    for (std::size_t v = 0; v < size_; ++v) {
      for (const std::uint32_t u : graph.adjacent(v)) adjacent_[v].insert(u);
    }
  }

  Set none() const { return Set(size_); }
  const Set& adjacent(std::size_t v) const { return adjacent_[v]; }
  Weight weight(std::size_t v) const { return weights_[v]; }

  // Looks for an independent subset of `open` heavier than `need`. Complete unless the budget ran out, and
  // then `upper` still holds.
  Answer search(const Set& open, Weight need) { return node(open, open, need, 0); }

  // A good set, quickly: the better of two greedy orders, by weight and by weight per conflict.
  std::pair<Weight, Set> greedy(const Set& open) const {
    std::pair<Weight, Set> best{0, none()};
    std::vector<std::size_t> order;
    open.for_each([&](std::size_t v) { order.push_back(v); });
    for (const bool per_conflict : {false, true}) {
      std::vector<double> rank(size_);
      for (const std::size_t v : order) {
        const double share = per_conflict ? 1.0 + static_cast<double>((adjacent_[v] & open).count()) : 1.0;
        rank[v] = static_cast<double>(weights_[v]) / share;
      }
      std::sort(order.begin(), order.end(),
                [&](std::size_t a, std::size_t b) { return rank[a] != rank[b] ? rank[a] > rank[b] : a < b; });
      std::pair<Weight, Set> tried{0, none()};
      for (const std::size_t v : order) {
        if (adjacent_[v].intersects(tried.second)) continue;
        tried.first += weights_[v];
        tried.second.insert(v);
      }
      if (tried.first > best.first) best = std::move(tried);
    }
    return best;
  }

 private:
  // Deeper than this the search gives up, so that the stack is bounded whatever the input.
  static constexpr int max_depth = 1000;
  // Below this size branching is cheaper than a flow network.
  static constexpr std::size_t min_size_for_cut = 16;
  // From this size on bounds take so long that none is computed any more when the budget is spent.
  static constexpr std::size_t large = 1024;

  struct Change {
    std::size_t vertex;
    Weight weight;
  };

  // `pending` are the vertices of `open` whose surroundings have changed since they were last looked at.
  Answer node(Set open, Set pending, Weight need, int depth) {
    if (depth > max_depth || !budget_.take(size_)) {
      budget_.exhaust();
      return {false, 0, cover_bound(open), none()};
    }
    const std::size_t trail_mark = trail_.size(), fold_mark = folded_.size();
    Weight base = 0;
    Set taken = none();
    reduce(open, std::move(pending), base, taken);
    Answer answer;
    if (open.empty()) answer = {0 > need - base, 0, 0, none()};
    else if (budget_.spent()) answer = {false, 0, cover_bound(open), none()};
    else answer = divide(open, need - base, depth);
    if (answer.found) {
      answer.chosen |= taken;
      // Folds are undone last to first: a folded vertex is in unless what it was folded into is.
      for (std::size_t i = folded_.size(); i-- > fold_mark;) {
        if (!adjacent_[folded_[i]].intersects(answer.chosen)) answer.chosen.insert(folded_[i]);
      }
    }
    answer.value += base;
    answer.upper += base;
    folded_.resize(fold_mark);
    while (trail_.size() > trail_mark) {
      weights_[trail_.back().vertex] = trail_.back().weight;
      trail_.pop_back();
    }
    return answer;
  }

  void set_weight(std::size_t v, Weight weight) {
    trail_.push_back({v, weights_[v]});
    weights_[v] = weight;
  }

  // Decides vertices that some heaviest set must hold or need not hold, as many as the time allows. What the
  // heaviest set of the reduced graph lacks is added to `base`.
  void reduce(Set& open, Set pending, Weight& base, Set& taken) {
    const auto remove = [&](std::size_t v) {
      open.erase(v);
      pending |= adjacent_[v];
    };
    const auto take = [&](std::size_t v, const Set& around) {
      base += weights_[v];
      taken.insert(v);
      open.erase(v);
      around.for_each(remove);
    };
    while (true) {
      pending &= open;
      if (pending.empty()) return;
      const std::size_t v = pending.first();
      pending.erase(v);
      const Set around = adjacent_[v] & open;
      if (!budget_.work((1 + around.count()) * (1 + size_ / 512))) return;
      Weight sum = 0, largest = 0;
      around.for_each([&](std::size_t u) {
        sum += weights_[u];
        largest = std::max(largest, weights_[u]);
      });
      if (weights_[v] >= sum) {  // isolated, or heavier than all its neighbours together
        take(v, around);
        continue;
      }
      // A neighbour that sees all other neighbours of v, and v itself, is never better than v if not heavier.
      bool simplicial = true;
      around.for_each([&](std::size_t u) {
        Set unseen = around - adjacent_[u];
        unseen.erase(u);
        if (!unseen.empty()) {
          simplicial = false;
        } else if (weights_[u] <= weights_[v]) {
          remove(u);
        }
      });
      if (!simplicial) continue;
      // The neighbourhood is a clique: at most one of it and v is chosen. Choosing v is the measure of all.
      const Weight weight = weights_[v];
      if (weight >= largest) {
        take(v, adjacent_[v] & open);
        continue;
      }
      base += weight;
      folded_.push_back(v);
      remove(v);
      (around & open).for_each([&](std::size_t u) {
        set_weight(u, weights_[u] - weight);
        pending |= adjacent_[u];
        pending.insert(u);
      });
    }
  }

  Set component_of(const Set& open) const {
    return averaging::component_of(open, size_, [&](std::size_t v) -> const Set& { return adjacent_[v]; });
  }

  // Solves a reduced graph: by components, or if there is only one by a cut or by branching.
  Answer divide(const Set& open, Weight need, int depth) {
    Set first = component_of(open);
    if (first == open) {
      Answer answer{false, 0, 0, none()};
      if (open.count() >= min_size_for_cut && cut(open, answer)) {
        answer.found = answer.value > need;
        return answer;
      }
      return branch(open, need, depth);
    }
    std::vector<Set> parts;
    for (Set rest = open; !rest.empty(); rest -= parts.back()) parts.push_back(component_of(rest));
    std::vector<Weight> bounds;
    Weight expected = 0;
    for (const Set& part : parts) expected += bounds.emplace_back(cover_bound(part));
    if (expected <= need) return {false, 0, expected, none()};
    Answer total{true, 0, 0, none()};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      expected -= bounds[i];
      const Answer part = node(parts[i], none(), need - total.value - expected, depth + 1);
      if (!part.found) {
        const Weight upper = total.upper + expected + std::max(part.upper, need - total.value - expected);
        return {false, 0, budget_.spent() ? upper : need, none()};
      }
      total.value += part.value;
      total.upper += part.upper;
      total.chosen |= part.chosen;
    }
    total.found = total.value > need;
    return total;
  }

  Answer branch(const Set& open, Weight need, int depth) {
    const Weight bound = cover_bound(open);
    if (bound <= need) return {false, 0, bound, none()};
    std::size_t pivot = open.first(), degree = 0;
    open.for_each([&](std::size_t v) {
      const std::size_t d = (adjacent_[v] & open).count();
      if (d > degree || (d == degree && weights_[v] > weights_[pivot])) {
        degree = d;
        pivot = v;
      }
    });
    const Weight weight = weights_[pivot];
    const Set removed = adjacent_[pivot] & open;
    Set without = open;
    without.erase(pivot);
    Set second_neighbours = none();
    removed.for_each([&](std::size_t v) { second_neighbours |= adjacent_[v]; });
    Answer with = node(without - removed, std::move(second_neighbours), need - weight, depth + 1);
    Answer best{with.found, with.value + weight, with.upper + weight, std::move(with.chosen)};
    if (best.found) {
      best.chosen.insert(pivot);
      need = best.value;
    }
    if (budget_.spent() && size_ >= large) {
      best.upper = bound;
      return best;
    }
    Answer other = node(std::move(without), removed, need, depth + 1);
    other.upper = std::max(other.upper, best.upper);
    if (other.found) return other;
    best.upper = other.upper;
    return best;
  }

  // An upper bound: weights are paid for by cliques, of which a set takes one vertex each.
  Weight cover_bound(const Set& open) {
    order_.clear();
    open.for_each([&](std::size_t v) {
      order_.push_back(v);
      residual_[v] = weights_[v];
    });
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return weights_[a] != weights_[b] ? weights_[a] < weights_[b] : a < b;
    });
    Set unpaid = open;
    Weight bound = 0;
    for (const std::size_t v : order_) {
      while (unpaid.contains(v)) {
        clique_.assign(1, v);
        Weight share = residual_[v];
        Set common = adjacent_[v] & unpaid;
        while (!common.empty()) {
          std::size_t heaviest = common.first();
          common.for_each([&](std::size_t u) {
            if (residual_[u] > residual_[heaviest]) heaviest = u;
          });
          clique_.push_back(heaviest);
          share = std::min(share, residual_[heaviest]);
          common &= adjacent_[heaviest];
        }
        bound += share;
        for (const std::size_t u : clique_) {
          residual_[u] -= share;
          if (residual_[u] == 0) unpaid.erase(u);
        }
      }
    }
    return bound;
  }

  // Solves a connected graph exactly if it is bipartite.
  bool cut(const Set& open, Answer& answer) {
    std::array<Set, 2> sides{none(), none()};
    Set frontier = none();
    frontier.insert(open.first());
    for (std::size_t side = 0; !frontier.empty(); side = 1 - side) {
      sides[side] |= frontier;
      Set reached = none();
      frontier.for_each([&](std::size_t v) { reached |= adjacent_[v]; });
      reached &= open;
      if (reached.intersects(sides[side])) return false;
      reached -= sides[1 - side];
      frontier = std::move(reached);
    }
    BipartiteCut<Weight> network(size_);
    sides[0].for_each([&](std::size_t v) {
      network.add_left(v, weights_[v]);
      (adjacent_[v] & open).for_each([&](std::size_t u) { network.add_edge(v, u); });
    });
    sides[1].for_each([&](std::size_t v) { network.add_right(v, weights_[v]); });
    if (!network.run(budget_)) return false;
    open.for_each([&](std::size_t v) {
      if (sides[0].contains(v) ? network.takes_left(v) : network.takes_right(v)) {
        answer.chosen.insert(v);
        answer.value += weights_[v];
      }
    });
    answer.upper = answer.value;
    return true;
  }

  std::size_t size_;
  std::vector<Set> adjacent_;
  std::vector<Weight> weights_;
  Budget& budget_;
  std::vector<Change> trail_;
  std::vector<std::size_t> folded_;
  // Scratch of `cover_bound`.
  std::vector<Weight> residual_;
  std::vector<std::size_t> order_, clique_;
};

}  // namespace treemean::averaging
