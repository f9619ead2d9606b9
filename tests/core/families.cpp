// Conflicts of sets of words and the heaviest compatible families, against their definitions.
#include <algorithm>

#include "averaging/binarise.hpp"
#include "averaging/conflicts.hpp"
#include "averaging/laminar.hpp"
#include "averaging/packing.hpp"
#include "check.hpp"
#include "instances.hpp"

namespace {

using namespace treemean::averaging;
using treemean::testing::bits_of;
using treemean::testing::Family;
using treemean::testing::heaviest;
using treemean::testing::Random;
using treemean::testing::Steps;

TEST(conflicts_are_what_their_definition_says) {
  Random random(1);
  for (const std::size_t words : {5, 40, 64, 65, 200}) {
    const Family family(std::min<std::size_t>(words, 30), words, random);
    for (std::size_t a = 0; a < family.rows().size(); ++a) {
      for (std::size_t b = 0; b < family.rows().size(); ++b) {
        CHECK(conflict(family.rows()[a], family.rows()[b]) == family.conflict(a, b));
        CHECK(precedes(family.rows()[a], family.rows()[b]) == (a < b));
      }
    }
  }
}

// Both ways to find conflicts: of few sets by pairs, of many by words.
TEST(conflict_graphs_have_all_conflicts) {
  Random random(2);
  for (const std::size_t words : {30, 100}) {
    for (const std::size_t count : {0, 1, 2, 40, 600}) {
      const Family family(count, words, random);
      Steps steps;
      ConflictGraph graph;
      graph.build(family.rows(), steps);
      CHECK(!graph.unfinished());
      std::vector<std::vector<bool>> found(count, std::vector<bool>(count));
      std::size_t seen = graph.isolated().size();
      for (const Component& component : graph.components()) {
        CHECK(component.size() >= 2 && std::is_sorted(component.members.begin(), component.members.end()));
        seen += component.size();
        for (std::size_t v = 0; v < component.size(); ++v) {
          CHECK(!component.adjacent(v).empty());
          for (const std::uint32_t u : component.adjacent(v))
            found[component.members[v]][component.members[u]] = true;
        }
      }
      CHECK(seen == count);
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b < count; ++b)
          CHECK(found[a][b] == conflict(family.rows()[a], family.rows()[b]));
      }
    }
  }
}

std::vector<Int128> random_weights(std::size_t count, std::uint64_t most, Random& random) {
  std::vector<Int128> weights;
  for (std::size_t i = 0; i < count; ++i) weights.push_back(static_cast<Int128>(1 + random.below(most)));
  return weights;
}

TEST(the_heaviest_laminar_family) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const Family family(1 + random.below(10), round % 2 == 0 ? 7 : 70, random);
    const auto weights = random_weights(family.rows().size(), 20, random);
    Steps steps;
    const auto found = heaviest_laminar_family(family.rows(), weights, family.width(), steps);
    CHECK(found.has_value());
    const auto best = heaviest(weights, [&](std::uint64_t set) { return family.compatible(set); });
    CHECK(found->value == best.first);
    CHECK(family.compatible(bits_of(found->chosen)));
    CHECK(treemean::testing::weight_of(bits_of(found->chosen), weights) == best.first);
  }
  const Family family(10, 12, random);
  Steps few(2);
  CHECK(!heaviest_laminar_family(family.rows(), random_weights(10, 5, random), family.width(), few));
}

TEST(the_canonical_packing) {
  Random random(4);
  for (int round = 0; round < 80; ++round) {
    const std::size_t words = round % 2 == 0 ? 8 : 80;
    const Family family(1 + random.below(11), words, random);
    auto weights = random_weights(family.rows().size(), round % 3 == 0 ? 2 : 100, random);
    if (round % 4 == 0) weights[0] = -weights[0];
    Steps steps;
    Packing packing;
    Packed packed;
    packing.build(family.rows(), static_cast<std::int64_t>(words), steps);
    packing.solve(weights, steps, true, packed);
    const auto best = heaviest(weights, [&](std::uint64_t set) { return family.compatible(set); });
    CHECK(packed.exact() && packed.value == best.first);
    CHECK(bits_of(packed.chosen) == best.second);
    std::sort(packed.chosen.begin(), packed.chosen.end());
    CHECK(packing.compatible(packed.chosen));
  }
}

TEST(a_packing_without_steps_is_compatible_and_bounded) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    const Family family(12, 9, random);
    const auto weights = random_weights(12, 50, random);
    Steps steps(1);
    Packing packing;
    Packed packed;
    packing.build(family.rows(), 9, steps);
    packing.solve(weights, steps, true, packed);
    const auto best = heaviest(weights, [&](std::uint64_t set) { return family.compatible(set); });
    CHECK(family.compatible(bits_of(packed.chosen)));
    CHECK(packed.value <= best.first && packed.upper >= best.first);
  }
}

TEST(sets_that_make_a_tree_binary) {
  for (const Direction direction : {Direction::left, Direction::right, Direction::balanced}) {
    for (int words = 1; words <= 12; ++words) {
      // The whole sentence, and two words with a gap if there are enough.
      const std::uint64_t whole = (std::uint64_t{1} << words) - 1, pair = 0b101;
      std::vector<const std::uint64_t*> sets{&whole};
      if (words > 3) sets.push_back(&pair);
      const auto added = missing_sets(sets, words, direction);
      // A binary tree has words - 2 sets between single words and the whole sentence.
      CHECK(static_cast<int>(added.size() + sets.size()) == std::max(words - 1, 1));
      std::vector<std::uint64_t> all{whole};
      if (words > 3) all.push_back(pair);
      for (const AddedSet& set : added) all.push_back(set.words[0]);
      for (const std::uint64_t a : all) {
        for (const std::uint64_t b : all) CHECK(!conflict(make_row(&a, 1), make_row(&b, 1)));
      }
    }
  }
  const std::uint64_t whole = 0b1111;
  CHECK(missing_sets({&whole}, 4, Direction::left)[0].words[0] == 0b0011);
  CHECK(missing_sets({&whole}, 4, Direction::right)[0].words[0] == 0b1100);
  CHECK(missing_sets({&whole}, 4, Direction::balanced)[1].words[0] == 0b1100);
}

}  // namespace
