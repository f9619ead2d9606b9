// Sets with a choice of chains: the searches against every tree.
#include <algorithm>
#include <utility>
#include <vector>

#include "averaging/optima.hpp"
#include "averaging/scores.hpp"
#include "averaging/solver.hpp"
#include "check.hpp"
#include "instances.hpp"

namespace {

using namespace treemean::averaging;
using treemean::testing::Family;
using treemean::testing::Random;
using treemean::testing::Steps;

using Chosen = std::vector<std::uint32_t>;

// Candidates of the sets of a family, of a word and of the whole sentence, whose words lie here.
class LabelledInstance {
 public:
  LabelledInstance(const Family& family, std::size_t words, std::size_t groups, Random& random)
      : whole_((std::uint64_t{1} << words) - 1) {
    instance.labelled = true;
    instance.words = instance.fixed = static_cast<std::int64_t>(words);
    instance.p = static_cast<std::int64_t>(random.below(3));
    instance.q = static_cast<std::int64_t>(1 + random.below(3));
    for (std::size_t g = 0; g < groups; ++g) {
      instance.sizes.push_back(instance.fixed + static_cast<std::int64_t>(9 * g + 1));
      instance.base.push_back(instance.fixed * static_cast<std::int64_t>(1 + random.below(3)));
    }
    add(make_row(&word_, 1), random);
    for (const Row& row : family.rows()) add(row, random);
    add(make_row(&whole_, 1), random);
  }
  LabelledInstance(const LabelledInstance&) = delete;
  LabelledInstance& operator=(const LabelledInstance&) = delete;
  ~LabelledInstance() = default;

  // All trees with their values, the best first, in the order of ties.
  std::vector<std::pair<BigFraction, Chosen>> ranked() const {
    std::vector<std::pair<BigFraction, Chosen>> all;
    extend(0, {}, all);
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      if (const auto order = compare(a.first, b.first); order != 0) return order > 0;
      const std::int64_t x = instance.cost_of(a.second), y = instance.cost_of(b.second);
      if (x != y) return x < y;
      const std::int64_t v = instance.preference_of(a.second), w = instance.preference_of(b.second);
      return v != w ? v > w : a.second < b.second;
    });
    return all;
  }

  Instance instance;

 private:
  void add(const Row& row, Random& random) {
    const std::uint64_t chains = 1 + random.below(3);
    for (std::uint64_t i = 0; i < chains; ++i) {
      instance.candidates.push_back(row);
      instance.costs.push_back(static_cast<std::int64_t>(1 + random.below(3)));
      instance.preferences.push_back(static_cast<std::int64_t>(random.below(5)) - 2);
      for (std::size_t g = 0; g < instance.groups(); ++g)
        instance.hits.push_back(static_cast<std::int64_t>(random.below(5)));
    }
  }

  void extend(std::uint32_t next, const Chosen& chosen,
              std::vector<std::pair<BigFraction, Chosen>>& all) const {
    if (next == instance.candidates.size()) {
      if (!chosen.empty() && instance.is_whole(chosen.back()))
        all.emplace_back(exact_value_of(instance, chosen), chosen);
      return;
    }
    extend(next + 1, chosen, all);
    const bool fits = std::none_of(chosen.begin(), chosen.end(), [&](std::uint32_t other) {
      return instance.exclude_each_other(other, next);
    });
    if (!fits) return;
    Chosen longer = chosen;
    longer.push_back(next);
    extend(next + 1, longer, all);
  }

  std::uint64_t word_ = 1, whole_;
};

void check_labelled(std::size_t groups, std::uint64_t seed) {
  Random random(seed);
  for (int round = 0; round < 40; ++round) {
    const std::size_t words = 4 + random.below(4);
    const Family family(1 + random.below(4), words, random);
    const LabelledInstance labelled(family, words, groups, random);
    const auto all = labelled.ranked();
    Steps steps;
    Outcome outcome;
    Solver().run(labelled.instance, Goal::average, steps, outcome);
    CHECK(outcome.optimal);
    CHECK(compare(BigFraction{outcome.value.numerator, outcome.value.denominator}, all[0].first) == 0);
    CHECK(outcome.chosen == all[0].second);

    const auto best = best_trees(labelled.instance, 6, false, steps);
    CHECK(best.size() == std::min<std::size_t>(6, all.size()));
    for (std::size_t i = 0; i < best.size(); ++i) {
      Chosen chosen = best[i].chosen;
      std::sort(chosen.begin(), chosen.end());
      CHECK(chosen == all[i].second);
    }
    Count optima = 0, counted = 1;
    for (const auto& [value, chosen] : all) optima += compare(value, all[0].first) == 0 ? 1 : 0;
    for (const Count factor : count_best_trees(labelled.instance, steps)) counted *= factor;
    CHECK(counted == optima);
  }
}

TEST(labelled_trees_of_one_size) { check_labelled(1, 21); }
TEST(labelled_trees_of_different_sizes) { check_labelled(3, 22); }

}  // namespace
