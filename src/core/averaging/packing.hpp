// The heaviest compatible subset of some sets of words, for one choice of weights after the other. With
// labels a set has several candidates, of which the heaviest one stands for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/conflicts.hpp"
#include "averaging/instance.hpp"
#include "averaging/integers.hpp"
#include "averaging/ties.hpp"

namespace treemean::averaging {

struct Packed {
  Int128 value = 0;                   // the weight of what was chosen
  Int128 upper = 0;                   // no compatible subset weighs more
  std::vector<std::uint32_t> chosen;  // in no particular order
  bool ties_open = false;             // another equally heavy set might be the canonical one

  bool exact() const { return value == upper; }
};

// Where candidates with the same words lie, of which one can be chosen: [begin, end).
struct Choice {
  std::uint32_t begin, end;
};

class Packing {
 public:
  // The sets must be different, have 2 to words - 1 words, and stand in canonical order (see `precedes`).
  // Where the time does not suffice for all conflicts, solutions are poor, with a bound.
  void build(std::span<const Row> rows, std::int64_t words, Budget& budget);
  // The same for some candidates of an instance, in canonical order. With labels, one of those with the same
  // words is chosen, or none; of those of the whole sentence exactly one.
  void build(const Instance& instance, std::span<const std::uint32_t> kept, Budget& budget);

  std::size_t size() const { return size_; }
  // Conflicts of sets: its vertices are choices.
  const ConflictGraph& graph() const { return graph_; }
  Choice choice(std::size_t vertex) const {
    const auto v = static_cast<std::uint32_t>(vertex);
    return choices_.empty() ? Choice{v, v + 1} : choices_[vertex];
  }
  // Choices that are in conflict with nothing for what they are, single words and the whole sentence.
  std::span<const Choice> free() const { return free_; }
  // The choice of which one must be taken is the last one of these, if there is one.
  bool has_mandatory() const { return has_mandatory_; }
  TieRule tie_rule(std::size_t candidate) const { return rules_.empty() ? TieRule{} : rules_[candidate]; }

  // Whether some of the sets, given by ascending numbers, are pairwise compatible.
  bool compatible(std::span<const std::uint32_t> sets) const;

  // Sets whose weight is not positive are left out. Of equally heavy subsets one with the lowest cost, and
  // then the highest preference, is returned; with `canonical` (and always from small components) the first
  // of these in canonical order. Sums of weights times the costs and preferences must stay below 2^124.
  void solve(std::span<const Int128> weights, Budget& budget, bool canonical, Packed& result);

 private:
  void clear();
  void make_choices(const Instance& instance, std::span<const std::uint32_t> kept);
  std::uint32_t best_of(Choice choice, std::span<const Int128> weights) const;
  bool precedes_in_ties(std::uint32_t a, std::uint32_t b) const;
  void solve_choices(std::span<const Int128> weights, Budget& budget, bool canonical, Packed& result);
  void solve_sets(std::span<const Int128> weights, Budget& budget, bool canonical, Packed& result);
  void solve_component(const Component& component, std::span<const Int128> weights, Budget& budget,
                       bool canonical, Packed& result);
  void solve_without_graph(std::span<const Int128> weights, Budget& budget, Packed& result);
  // What decides about a vertex: its own rule, or that of the candidate that was chosen for it.
  TieRule rule_of(std::uint32_t vertex) const {
    return rules_.empty() ? TieRule{} : rules_[taken_.empty() ? vertex : taken_[vertex]];
  }

  std::size_t size_ = 0;
  std::vector<Row> rows_;  // by vertex
  std::int64_t words_ = 0;
  ConflictGraph graph_;
  std::vector<std::uint32_t> alive_;
  std::vector<TieRule> alive_rules_;
  std::vector<Choice> choices_, free_;  // without labels there are none
  bool has_mandatory_ = false;
  std::vector<TieRule> rules_;        // by candidate; those of `TieRule` if empty
  std::vector<std::uint32_t> taken_;  // by vertex: its heaviest candidate
  std::vector<Int128> vertex_weights_;
};

}  // namespace treemean::averaging
