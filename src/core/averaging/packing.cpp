#include "averaging/packing.hpp"

#include <algorithm>
#include <utility>

#include "averaging/branch_and_bound.hpp"
#include "averaging/laminar.hpp"
#include "averaging/ties.hpp"
#include "averaging/vertex_set.hpp"

namespace treemean::averaging {
namespace {

// Hard components are tried by branching, then by the memoised search, then by branching as long as the
// budget allows. Either is hopeless at times where the other one is quick.
constexpr std::int64_t first_branching = 4'000;
constexpr std::int64_t memoised_search = 50'000;
// Deciding ties of one component may take so many steps beyond what finding the value took.
constexpr std::int64_t tie_breaking = 20'000;
// So many pairs of sets are compared for a first solution even if the time is over.
constexpr std::size_t comparisons_on_credit = std::size_t{1} << 23;
// In smaller graphs a first solution is not worth its time.
constexpr std::size_t min_size_for_greedy = 24;

struct Problem {
  const Component& component;
  std::span<const std::uint32_t> alive;  // local numbers of the vertices with positive weight
  std::span<const Int128> weights;       // of all sets
  std::span<const Row> rows;
  std::size_t width;
  TieWeights ties;
  bool canonical;
};

template <class Set, class Weight>
void search(const Problem& problem, Budget& budget, Packed& result) {
  const Component& component = problem.component;
  std::vector<Weight> encoded(component.size(), 0);
  Set open(component.size());
  for (std::size_t rank = 0; rank < problem.alive.size(); ++rank) {
    const std::uint32_t v = problem.alive[rank];
    encoded[v] = static_cast<Weight>(problem.ties.encode(problem.weights[component.members[v]], rank));
    open.insert(v);
  }

  Budget trial = budget.part(first_branching);
  BranchAndBound<Set, Weight> tree(component, encoded, trial);
  std::pair<Weight, Set> best{0, tree.none()};
  if (problem.alive.size() >= min_size_for_greedy) best = tree.greedy(open);
  const auto branch = [&] {
    auto answer = tree.search(open, best.first);
    if (answer.found) best = {answer.value, std::move(answer.chosen)};
    return std::max(answer.upper, best.first);
  };
  Weight upper = branch();
  if (trial.spent() && best.first == 0) {
    best = tree.greedy(open);
    upper = std::max(upper, best.first);
  }
  budget.settle(trial);

  if (trial.spent() && budget.remaining() > 0) {
    std::vector<Row> rows;
    std::vector<Int128> weights;
    for (const std::uint32_t v : problem.alive) {
      rows.push_back(problem.rows[component.members[v]]);
      weights.push_back(encoded[v]);
    }
    trial = budget.part(memoised_search);
    const auto family = heaviest_laminar_family(rows, weights, problem.width, trial);
    budget.settle(trial);
    if (family) {
      best = {upper = static_cast<Weight>(family->value), tree.none()};
      for (const std::uint32_t i : family->chosen) best.second.insert(problem.alive[i]);
    } else if (budget.remaining() > 0) {
      trial = budget.part(budget.remaining());
      upper = std::min(upper, branch());
      budget.settle(trial);
    }
  }
  const bool exact = upper == best.first;
  if (exact && !problem.ties.complete()) {
    if (problem.canonical) {
      trial = budget.part(tie_breaking);
      best.second = first_of_heaviest(tree, open, best.first, std::move(best.second), trial);
      budget.settle(trial);
    }
    result.ties_open = true;
  }
  Int128 value = 0;
  best.second.for_each([&](std::size_t v) {
    result.chosen.push_back(component.members[v]);
    value += problem.weights[component.members[v]];
  });
  result.value += value;
  result.upper += exact ? value : problem.ties.decode_bound(upper);
}

template <class Weight>
void search_in_width(const Problem& problem, Budget& budget, Packed& result) {
  const std::size_t size = problem.component.size();
  if (size <= 64) search<FixedSet<1>, Weight>(problem, budget, result);
  else if (size <= 128) search<FixedSet<2>, Weight>(problem, budget, result);
  else if (size <= 512) search<FixedSet<8>, Weight>(problem, budget, result);
  else search<DynamicSet, Weight>(problem, budget, result);
}

}  // namespace

void Packing::build(std::span<const Row> rows, std::int64_t words, Budget& budget) {
  rows_.assign(rows.begin(), rows.end());
  words_ = words;
  graph_.build(rows_, budget);
}

bool Packing::compatible(std::span<const std::uint32_t> sets) const {
  if (graph_.unfinished()) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (conflict(rows_[sets[i]], rows_[sets[j]])) return false;
      }
    }
    return true;
  }
  const auto among = [&](std::uint32_t v) { return std::binary_search(sets.begin(), sets.end(), v); };
  for (const Component& component : graph_.components()) {
    for (std::size_t v = 0; v < component.size(); ++v) {
      if (!among(component.members[v])) continue;
      for (const std::uint32_t u : component.adjacent(v)) {
        if (u < v && among(component.members[u])) return false;
      }
    }
  }
  return true;
}

void Packing::solve(std::span<const Int128> weights, Budget& budget, bool canonical, Packed& result) {
  result.value = result.upper = 0;
  result.chosen.clear();
  result.ties_open = false;
  if (graph_.unfinished()) {
    solve_without_graph(weights, budget, result);
    return;
  }
  for (const std::uint32_t v : graph_.isolated()) {
    if (weights[v] <= 0) continue;
    result.chosen.push_back(v);
    result.value += weights[v];
  }
  result.upper = result.value;
  for (const Component& component : graph_.components()) {
    solve_component(component, weights, budget, canonical, result);
  }
}

void Packing::solve_component(const Component& component, std::span<const Int128> weights, Budget& budget,
                              bool canonical, Packed& result) {
  if (component.size() == 2) {
    const std::uint32_t a = component.members[0], b = component.members[1];
    const std::uint32_t best = weights[b] > weights[a] ? b : a;
    if (weights[best] <= 0) return;
    result.chosen.push_back(best);
    result.value += weights[best];
    result.upper += weights[best];
    return;
  }
  alive_.clear();
  Int128 total = 0;
  for (std::uint32_t v = 0; v < component.size(); ++v) {
    if (const Int128 weight = weights[component.members[v]]; weight > 0) {
      alive_.push_back(v);
      total += weight;
    }
  }
  if (alive_.empty()) return;
  const Problem problem{
      component, alive_, weights, rows_, static_cast<std::size_t>(words_ + 63) / 64, TieWeights(alive_.size(), total),
      canonical};
  if (problem.ties.narrow()) search_in_width<std::int64_t>(problem, budget, result);
  else search_in_width<Int128>(problem, budget, result);
}

// Without a graph: the memoised search, or else a greedy choice. A tree has no more than words - 2 of these sets,
// which gives a bound.
void Packing::solve_without_graph(std::span<const Int128> weights, Budget& budget, Packed& result) {
  alive_.clear();
  for (std::uint32_t v = 0; v < rows_.size(); ++v) {
    if (weights[v] > 0) alive_.push_back(v);
  }
  std::stable_sort(alive_.begin(), alive_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return weights[a] > weights[b]; });
  for (std::size_t i = 0; i < alive_.size() && static_cast<std::int64_t>(i) < words_ - 2; ++i) {
    result.upper += weights[alive_[i]];
  }
  std::size_t compared = 0;
  for (const std::uint32_t v : alive_) {
    compared += result.chosen.size();
    if (!budget.work(4 * result.chosen.size()) && compared > comparisons_on_credit) break;
    const bool fits = std::none_of(result.chosen.begin(), result.chosen.end(),
                                   [&](std::uint32_t u) { return conflict(rows_[u], rows_[v]); });
    if (!fits) continue;
    result.chosen.push_back(v);
    result.value += weights[v];
  }
  if (result.value == result.upper || budget.spent()) return;
  std::vector<Row> rows;
  std::vector<Int128> alive_weights;
  for (const std::uint32_t v : alive_) {
    rows.push_back(rows_[v]);
    alive_weights.push_back(weights[v]);
  }
  Budget trial = budget.part(memoised_search);
  const auto family = heaviest_laminar_family(rows, alive_weights, static_cast<std::size_t>(words_ + 63) / 64, trial);
  budget.settle(trial);
  if (!family) return;
  result.value = result.upper = family->value;
  result.chosen.clear();
  for (const std::uint32_t i : family->chosen) result.chosen.push_back(alive_[i]);
}

}  // namespace treemean::averaging
