// Minimum cuts, branch and bound, ties and tables, against brute force over all subsets of small graphs.
#include <bit>

#include "averaging/big_integer.hpp"
#include "averaging/branch_and_bound.hpp"
#include "averaging/min_cut.hpp"
#include "averaging/tables.hpp"
#include "averaging/ties.hpp"
#include "averaging/vertex_set.hpp"
#include "check.hpp"
#include "instances.hpp"

namespace {

using namespace treemean::averaging;
using treemean::testing::Graph;
using treemean::testing::heaviest;
using treemean::testing::Random;
using treemean::testing::Steps;
using treemean::testing::weight_of;

template <class Weight>
std::vector<Weight> random_weights(std::size_t count, std::uint64_t most, Random& random) {
  std::vector<Weight> weights;
  for (std::size_t v = 0; v < count; ++v) weights.push_back(static_cast<Weight>(1 + random.below(most)));
  return weights;
}

template <class Set>
std::uint64_t word_of(const Set& set) {
  std::uint64_t word = 0;
  set.for_each([&](std::size_t v) { word |= std::uint64_t{1} << v; });
  return word;
}

template <class Set>
Set all_of(std::size_t size) {
  Set all(size);
  for (std::size_t v = 0; v < size; ++v) all.insert(v);
  return all;
}

template <class Weight>
void check_cuts(std::uint64_t seed) {
  Random random(seed);
  for (int round = 0; round < 100; ++round) {
    const std::size_t size = 2 + random.below(10);
    const std::size_t left = 1 + random.below(size - 1);
    std::vector<bool> edges(size * size);
    for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = random.below(2) != 0;
    const auto adjacent = [&](std::size_t u, std::size_t v) {
      return u < left && v >= left && edges[u * size + v];
    };
    const Graph graph(size, adjacent);
    const auto weights = random_weights<Weight>(size, 20, random);
    BipartiteCut<Weight> cut(size);
    for (std::size_t v = 0; v < size; ++v) {
      if (v < left) cut.add_left(v, weights[v]);
      else cut.add_right(v, weights[v]);
    }
    for (std::size_t u = 0; u < left; ++u) {
      for (const std::uint32_t v : graph.component().adjacent(u)) cut.add_edge(u, v);
    }
    Steps steps;
    CHECK(cut.run(steps));
    std::uint64_t chosen = 0;
    for (std::size_t v = 0; v < size; ++v) {
      if (v < left ? cut.takes_left(v) : cut.takes_right(v)) chosen |= std::uint64_t{1} << v;
    }
    CHECK(graph.independent(chosen));
    const auto best = heaviest(weights, [&](std::uint64_t set) { return graph.independent(set); });
    CHECK(weight_of(chosen, weights) == best.first);
  }
}

TEST(minimum_cuts_in_64_bits) { check_cuts<std::int64_t>(1); }
TEST(minimum_cuts_in_128_bits) { check_cuts<Int128>(2); }

template <class Set, class Weight>
void check_searches(std::uint64_t seed, std::size_t most) {
  Random random(seed);
  for (int round = 0; round < 150; ++round) {
    const Graph graph = Graph::random(1 + random.below(most), 10 + random.below(60), random);
    const auto weights = random_weights<Weight>(graph.size(), round % 2 == 0 ? 3 : 1000, random);
    const auto allowed = [&](std::uint64_t set) { return graph.independent(set); };
    const auto best = heaviest(weights, allowed);
    Steps steps;
    BranchAndBound<Set, Weight> search(graph.component(), weights, steps);
    const Set open = all_of<Set>(graph.size());
    const auto quick = search.greedy(open);
    CHECK(graph.independent(word_of(quick.second)) && quick.first <= best.first);
    CHECK(weight_of(word_of(quick.second), weights) == quick.first);
    const auto answer = search.search(open, best.first - 1);
    CHECK(answer.found && answer.value == best.first && answer.upper >= best.first);
    CHECK(graph.independent(word_of(answer.chosen)) &&
          weight_of(word_of(answer.chosen), weights) == best.first);
    CHECK(!search.search(open, best.first).found);
    // With the rule of fewest members in the weights, the first of the heaviest is the canonical one.
    std::vector<Weight> encoded;
    for (const Weight weight : weights) encoded.push_back(weight * static_cast<Weight>(graph.size() + 1) - 1);
    BranchAndBound<Set, Weight> tied(graph.component(), encoded, steps);
    const auto heaviest_tied = tied.search(open, 0);
    CHECK(heaviest_tied.found);
    const Set first =
        first_of_heaviest(tied, open, heaviest_tied.value, heaviest_tied.chosen, steps.budget());
    CHECK(word_of(first) == best.second);
  }
}

TEST(branch_and_bound_in_one_word) { check_searches<FixedSet<1>, std::int64_t>(3, 12); }
TEST(branch_and_bound_of_any_width) { check_searches<DynamicSet, Int128>(4, 10); }

// Above `min_size_for_cut`, where bipartite graphs are cut.
TEST(branch_and_bound_of_bipartite_graphs) {
  Random random(5);
  for (int round = 0; round < 5; ++round) {
    const Graph graph(16, [](std::size_t u, std::size_t v) { return (u % 2 != v % 2) && (v - u) % 5 != 3; });
    const auto weights = random_weights<std::int64_t>(16, 9, random);
    const auto best = heaviest(weights, [&](std::uint64_t set) { return graph.independent(set); });
    Steps steps;
    BranchAndBound<FixedSet<1>, std::int64_t> search(graph.component(), weights, steps);
    CHECK(search.search(all_of<FixedSet<1>>(16), 0).value == best.first);
  }
}

TEST(a_search_that_gives_up_has_a_bound) {
  Random random(6);
  int given_up = 0;
  for (int round = 0; round < 50; ++round) {
    const Graph graph = Graph::random(14, 35, random);
    const auto weights = random_weights<std::int64_t>(14, 100, random);
    const auto best = heaviest(weights, [&](std::uint64_t set) { return graph.independent(set); });
    Steps steps(static_cast<std::int64_t>(random.below(3)));
    BranchAndBound<FixedSet<1>, std::int64_t> search(graph.component(), weights, steps);
    const auto answer = search.search(all_of<FixedSet<1>>(14), 0);
    CHECK(answer.upper >= best.first);
    CHECK(!answer.found || graph.independent(word_of(answer.chosen)));
    given_up += steps.budget().spent() ? 1 : 0;
  }
  CHECK(given_up > 0);
}

TEST(weights_with_the_rules_for_ties) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    const Graph graph = Graph::random(1 + random.below(9), 40, random);
    const auto weights = random_weights<Int128>(graph.size(), 4, random);
    Int128 total = 0;
    for (const Int128 weight : weights) total += weight;
    const TieWeights ties(graph.size(), total, static_cast<Int128>(graph.size()), 0);
    CHECK(ties.complete() && ties.narrow());
    std::vector<Int128> encoded;
    for (std::size_t v = 0; v < graph.size(); ++v) encoded.push_back(ties.encode(weights[v], {}, v));
    const auto allowed = [&](std::uint64_t set) { return graph.independent(set); };
    const auto plain = heaviest(weights, allowed), tied = heaviest(encoded, allowed);
    CHECK(plain.second == tied.second);
    CHECK(ties.decode_bound(tied.first) == plain.first);
  }
  CHECK(!TieWeights(65, 1, 65, 0).complete());
  CHECK(!TieWeights(10, Int128{1} << 60, 10, 0).narrow());
}

TEST(weights_with_costs_and_preferences) {
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    const Graph graph = Graph::random(1 + random.below(9), 40, random);
    const auto weights = random_weights<Int128>(graph.size(), 3, random);
    std::vector<Int128> costs, preferences, encoded;
    Int128 total = 0, all_costs = 0, all_preferences = 0;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      costs.push_back(1 + static_cast<Int128>(random.below(3)));
      preferences.push_back(static_cast<Int128>(random.below(7)) - 3);
      total += weights[v];
      all_costs += costs[v];
      all_preferences += preferences[v] < 0 ? -preferences[v] : preferences[v];
    }
    const TieWeights ties(graph.size(), total, all_costs, all_preferences);
    CHECK(ties.complete());
    for (std::size_t v = 0; v < graph.size(); ++v) {
      const TieRule rule{static_cast<std::int64_t>(costs[v]), static_cast<std::int64_t>(preferences[v])};
      encoded.push_back(ties.encode(weights[v], rule, v));
      CHECK(encoded.back() > 0);
    }
    const auto tied = heaviest(encoded, [&](std::uint64_t set) { return graph.independent(set); });
    for (std::uint64_t set = 0; set < std::uint64_t{1} << graph.size(); ++set) {
      if (!graph.independent(set)) continue;
      const Int128 lighter = weight_of(tied.second, weights) - weight_of(set, weights);
      const Int128 cheaper = weight_of(set, costs) - weight_of(tied.second, costs);
      const Int128 better = weight_of(tied.second, preferences) - weight_of(set, preferences);
      CHECK(lighter > 0 || (lighter == 0 && (cheaper > 0 || (cheaper == 0 && better >= 0))));
    }
    CHECK(ties.decode_bound(tied.first) == weight_of(tied.second, weights));
  }
}

template <class Value>
void check_tables(std::uint64_t seed) {
  Random random(seed);
  for (int round = 0; round < 60; ++round) {
    const std::size_t size = 1 + random.below(9);
    const Graph graph = Graph::random(size, 40, random);
    std::vector<Value> weights;
    std::vector<Int128> plain;
    for (std::size_t v = 0; v < size; ++v) {
      plain.push_back(static_cast<Int128>(random.below(7)) - 3);
      weights.push_back(plain.back());
    }
    Steps steps;
    const auto table =
        member_table(Packing(), graph.component(), weights, std::vector<bool>(size, true), size, steps);
    CHECK(table.has_value());
    for (std::size_t members = 0; members <= size; ++members) {
      Int128 best = 0;
      std::uint64_t count = 0;
      for (std::uint64_t set = 0; set < std::uint64_t{1} << size; ++set) {
        if (static_cast<std::size_t>(std::popcount(set)) != members || !graph.independent(set)) continue;
        const Int128 weight = weight_of(set, plain);
        if (count == 0 || weight > best) {
          best = weight;
          count = 0;
        }
        if (weight == best) ++count;
      }
      CHECK((members < table->size()) == (count > 0));
      if (count == 0) continue;
      const TableEntry<Value>& entry = (*table)[members];
      CHECK(entry.value == Value(best) && entry.count == Count{count});
      CHECK(graph.independent(word_of(entry.first)) && weight_of(word_of(entry.first), plain) == best);
    }
  }
}

TEST(tables_by_number_of_members) { check_tables<Int128>(8); }
TEST(tables_of_integers_of_any_size) { check_tables<BigInteger>(9); }
TEST(tables_need_steps) {
  Random random(10);
  const Graph graph = Graph::random(12, 50, random);
  Steps few(3);
  const std::vector<bool> all(12, true);
  CHECK(!member_table(Packing(), graph.component(), std::vector<Int128>(12, 1), all, 12, few));
}

}  // namespace
