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
  std::span<const TieRule> rules;  // of those alive
  bool canonical;
};

template <class Set, class Weight>
void search(const Problem& problem, Budget& budget, Packed& result) {
  const Component& component = problem.component;
  std::vector<Weight> encoded(component.size(), 0);
  Set open(component.size());
  for (std::size_t rank = 0; rank < problem.alive.size(); ++rank) {
    const std::uint32_t v = problem.alive[rank];
    encoded[v] = static_cast<Weight>(
        problem.ties.encode(problem.weights[component.members[v]], problem.rules[rank], rank));
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

void Packing::clear() {
  rows_.clear();
  choices_.clear();
  free_.clear();
  rules_.clear();
  taken_.clear();
  has_mandatory_ = false;
}

void Packing::build(std::span<const Row> rows, std::int64_t words, Budget& budget) {
  clear();
  rows_.assign(rows.begin(), rows.end());
  size_ = rows.size();
  words_ = words;
  graph_.build(rows_, budget);
}

void Packing::build(const Instance& instance, std::span<const std::uint32_t> kept, Budget& budget) {
  clear();
  size_ = kept.size();
  words_ = instance.words;
  if (instance.labelled) {
    make_choices(instance, kept);
  } else {
    for (const std::uint32_t c : kept) rows_.push_back(instance.candidates[c]);
  }
  if (!instance.costs.empty() || !instance.preferences.empty()) {
    for (const std::uint32_t c : kept) rules_.push_back({instance.cost(c), instance.preference(c)});
  }
  graph_.build(rows_, budget);
}

void Packing::make_choices(const Instance& instance, std::span<const std::uint32_t> kept) {
  for (std::uint32_t begin = 0, end = 0; begin < kept.size(); begin = end) {
    while (end < kept.size() && instance.same_set(kept[begin], kept[end])) ++end;
    const bool whole = instance.is_whole(kept[begin]);
    if (whole || instance.is_single(kept[begin])) {
      free_.push_back({begin, end});
      has_mandatory_ |= whole;
    } else {
      choices_.push_back({begin, end});
      rows_.push_back(instance.candidates[kept[begin]]);
    }
  }
  // In canonical order the whole sentence comes last.
  taken_.resize(choices_.size());
  vertex_weights_.resize(choices_.size());
}

bool Packing::compatible(std::span<const std::uint32_t> sets) const {
  std::vector<std::uint32_t> vertices;
  if (choices_.empty() && free_.empty()) {
    vertices.assign(sets.begin(), sets.end());
  } else {
    const auto members = [&](const Choice& choice) {
      return std::lower_bound(sets.begin(), sets.end(), choice.end) -
             std::lower_bound(sets.begin(), sets.end(), choice.begin);
    };
    if (std::any_of(free_.begin(), free_.end(), [&](const Choice& choice) { return members(choice) > 1; }))
      return false;
    for (std::uint32_t v = 0; v < choices_.size(); ++v) {
      if (members(choices_[v]) > 1) return false;
      if (members(choices_[v]) == 1) vertices.push_back(v);
    }
  }
  if (graph_.unfinished()) {
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (conflict(rows_[vertices[i]], rows_[vertices[j]])) return false;
      }
    }
    return true;
  }
  const auto among = [&](std::uint32_t v) { return std::binary_search(vertices.begin(), vertices.end(), v); };
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
  if (choices_.empty() && free_.empty()) {
    solve_sets(weights, budget, canonical, result);
  } else {
    solve_choices(weights, budget, canonical, result);
  }
}

// Of equal weight: whether one candidate is to be taken rather than another one.
bool Packing::precedes_in_ties(std::uint32_t a, std::uint32_t b) const {
  const TieRule x = tie_rule(a), y = tie_rule(b);
  if (x.cost != y.cost) return x.cost < y.cost;
  return x.preference != y.preference ? x.preference > y.preference : a < b;
}

std::uint32_t Packing::best_of(Choice choice, std::span<const Int128> weights) const {
  std::uint32_t best = choice.begin;
  for (std::uint32_t c = choice.begin + 1; c < choice.end; ++c) {
    if (weights[c] > weights[best] || (weights[c] == weights[best] && precedes_in_ties(c, best))) best = c;
  }
  return best;
}

void Packing::solve_choices(std::span<const Int128> weights, Budget& budget, bool canonical, Packed& result) {
  for (std::size_t v = 0; v < choices_.size(); ++v) {
    taken_[v] = best_of(choices_[v], weights);
    vertex_weights_[v] = weights[taken_[v]];
  }
  solve_sets(vertex_weights_, budget, canonical, result);
  for (std::uint32_t& chosen : result.chosen) chosen = taken_[chosen];
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const std::uint32_t best = best_of(free_[i], weights);
    if (weights[best] <= 0 && !(has_mandatory_ && i + 1 == free_.size())) continue;
    result.chosen.push_back(best);
    result.value += weights[best];
    result.upper += weights[best];
  }
}

void Packing::solve_sets(std::span<const Int128> weights, Budget& budget, bool canonical, Packed& result) {
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
    const TieRule x = rule_of(a), y = rule_of(b);
    const bool second = weights[a] != weights[b] ? weights[b] > weights[a]
                        : x.cost != y.cost       ? y.cost < x.cost
                                                 : y.preference > x.preference;
    const std::uint32_t best = second ? b : a;
    if (weights[best] <= 0) return;
    result.chosen.push_back(best);
    result.value += weights[best];
    result.upper += weights[best];
    return;
  }
  alive_.clear();
  alive_rules_.clear();
  Int128 total = 0, costs = 0, preferences = 0;
  for (std::uint32_t v = 0; v < component.size(); ++v) {
    if (const Int128 weight = weights[component.members[v]]; weight > 0) {
      const TieRule rule = alive_rules_.emplace_back(rule_of(component.members[v]));
      alive_.push_back(v);
      total += weight;
      costs += rule.cost;
      preferences += rule.preference < 0 ? -rule.preference : rule.preference;
    }
  }
  if (alive_.empty()) return;
  const Problem problem{component,
                        alive_,
                        weights,
                        rows_,
                        static_cast<std::size_t>(words_ + 63) / 64,
                        TieWeights(alive_.size(), total, costs, preferences),
                        alive_rules_,
                        canonical};
  if (problem.ties.narrow()) search_in_width<std::int64_t>(problem, budget, result);
  else search_in_width<Int128>(problem, budget, result);
}

// Without a graph: the memoised search, or else a greedy choice. A tree has no more than words - 2 of these
// sets, which gives a bound.
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
  const auto family =
      heaviest_laminar_family(rows, alive_weights, static_cast<std::size_t>(words_ + 63) / 64, trial);
  budget.settle(trial);
  if (!family) return;
  result.value = result.upper = family->value;
  result.chosen.clear();
  for (const std::uint32_t i : family->chosen) result.chosen.push_back(alive_[i]);
}

}  // namespace treemean::averaging
