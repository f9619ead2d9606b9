// The searches for whole sentences, against the value of every compatible subset; budgets, signs and threads.
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "averaging/batch.hpp"
#include "averaging/budget.hpp"
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

// Random hits of some groups on the sets of a family.
Instance random_instance(const Family& family, std::int64_t words, std::size_t groups, Random& random) {
  Instance instance;
  instance.words = words;
  instance.fixed = words + 1;
  instance.p = static_cast<std::int64_t>(1 + random.below(3));
  instance.q = static_cast<std::int64_t>(1 + random.below(3));
  for (std::size_t g = 0; g < groups; ++g) {
    instance.sizes.push_back(instance.fixed + static_cast<std::int64_t>(2 * g + 1));
    instance.base.push_back(instance.fixed * static_cast<std::int64_t>(1 + random.below(3)));
  }
  instance.candidates = family.rows();
  for (std::size_t i = 0; i < groups * family.rows().size(); ++i) {
    instance.hits.push_back(static_cast<std::int64_t>(random.below(6)));
  }
  return instance;
}

std::vector<std::uint32_t> members_of(std::uint64_t set) {
  std::vector<std::uint32_t> members;
  for (std::uint32_t c = 0; c < 64; ++c) {
    if ((set >> c & 1) != 0) members.push_back(c);
  }
  return members;
}

// All compatible subsets with their values, the best first, of equal ones those with fewer members, and then
// in canonical order.
std::vector<std::pair<BigFraction, std::vector<std::uint32_t>>> ranked(const Family& family,
                                                                       const Instance& instance) {
  std::vector<std::pair<BigFraction, std::vector<std::uint32_t>>> all;
  for (std::uint64_t set = 0; set < std::uint64_t{1} << family.rows().size(); ++set) {
    if (family.compatible(set)) all.emplace_back(exact_value_of(instance, members_of(set)), members_of(set));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    if (const auto order = compare(a.first, b.first); order != 0) return order > 0;
    return a.second.size() != b.second.size() ? a.second.size() < b.second.size() : a.second < b.second;
  });
  return all;
}

void check_solver(std::size_t groups, std::uint64_t seed) {
  Random random(seed);
  for (int round = 0; round < 40; ++round) {
    const std::size_t words = 5 + random.below(4);
    const Family family(1 + random.below(7), words, random);
    const Instance instance = random_instance(family, static_cast<std::int64_t>(words), groups, random);
    const auto all = ranked(family, instance);
    Steps steps;
    Outcome outcome;
    Solver().run(instance, Goal::average, steps, outcome);
    CHECK(outcome.optimal);
    CHECK(outcome.chosen == all[0].second);
    CHECK(compare(BigFraction{outcome.value.numerator, outcome.value.denominator}, all[0].first) == 0);

    const auto best = best_trees(instance, 5, false, steps);
    CHECK(best.size() == std::min<std::size_t>(5, all.size()));
    for (std::size_t i = 0; i < best.size(); ++i) {
      std::vector<std::uint32_t> chosen = best[i].chosen;
      std::sort(chosen.begin(), chosen.end());
      CHECK(chosen == all[i].second);
    }
    Count product = 1;
    for (const Count factor : count_best_trees(instance, steps)) product = product * factor;
    const auto equal = std::count_if(
        all.begin(), all.end(), [&](const auto& tree) { return compare(tree.first, all[0].first) == 0; });
    CHECK(product == Count{static_cast<std::uint64_t>(equal)});
  }
}

TEST(averages_of_one_size) { check_solver(1, 1); }
TEST(averages_of_several_sizes) { check_solver(3, 2); }

TEST(plain_sums) {
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    const Family family(1 + random.below(8), 8, random);
    const Instance instance = random_instance(family, 8, 1, random);
    const std::vector<Int128> hits(instance.hits.begin(), instance.hits.end());
    const auto best =
        treemean::testing::heaviest(hits, [&](std::uint64_t set) { return family.compatible(set); });
    Steps steps;
    Outcome outcome;
    Solver().run(instance, Goal::sum, steps, outcome);
    CHECK(outcome.optimal && compare(outcome.value, {best.first, 1}) == 0);
  }
}

TEST(counting_needs_certainty) {
  Random random(4);
  const Family family(12, 10, random);
  const Instance instance = random_instance(family, 10, 3, random);
  Steps none(0);
  CHECK_THROWS(Undecided, count_best_trees(instance, none));
  CHECK_THROWS(std::runtime_error, best_trees(instance, 2, false, none));
}

TEST(scales_are_common_multiples) {
  Random random(5);
  const Family family(4, 6, random);
  const Instance instance = random_instance(family, 6, 3, random);
  for (std::int64_t count = 0; count < 4; ++count) {
    const Scale scale = make_scale(instance, count, largest_scale_for(instance));
    CHECK(scale.exact);
    for (std::size_t g = 0; g < 3; ++g) CHECK(scale.units[g] * instance.denominator(g, count) == scale.whole);
    const Scale rounded = make_scale(instance, count, 100);
    CHECK(!rounded.exact && rounded.whole == 100);
  }
  CHECK(has_exact_scales(instance, largest_scale_for(instance)) && !has_exact_scales(instance, 100));
}

TEST(budgets_end) {
  Steps steps(3);
  Budget& budget = steps.budget();
  CHECK(budget.take() && budget.take() && budget.remaining() == 1);
  Budget part = budget.part(10);
  CHECK(part.take() && !part.take());
  CHECK(!budget.spent());
  budget.settle(part);
  CHECK(budget.spent() && budget.remaining() == 0 && !budget.take());

  StopSign sign([] {});
  Budget late(1000, 1e-3, sign, Budget::Clock::now() - std::chrono::seconds(1));
  CHECK(!late.work(1'000'000) && late.spent());
}

TEST(a_raised_sign_stops_whoever_looks) {
  int asked = 0;
  StopSign sign([&] { ++asked; });
  sign.check(StopSign::Clock::now());
  CHECK(asked == 0);
  sign.check(StopSign::Clock::now() + std::chrono::seconds(1));
  CHECK(asked == 1);
  sign.raise();
  CHECK_THROWS(Stopped, sign.check(StopSign::Clock::now()));
  CHECK_THROWS(std::exception, sign.check(StopSign::Clock::now()));
}

// Individuals over many sentences of three words, in which the first two or the last two words belong
// together.
struct Columns {
  std::vector<std::int64_t> words{0}, constituents{0};
  std::vector<std::uint64_t> left, right;
  std::vector<std::int32_t> labels, ranks{0};

  explicit Columns(std::int64_t sentences) {
    for (std::int64_t s = 1; s <= sentences; ++s) {
      words.push_back(3 * s);
      constituents.push_back(2 * s);
      left.insert(left.end(), {0b111, 0b011});
      right.insert(right.end(), {0b111, 0b110});
      labels.insert(labels.end(), {0, 0});
    }
  }

  Individuals individuals() const {
    Individuals result;
    result.word_offsets = words;
    for (const auto* bits : {&left, &right, &right}) {
      Individual& individual = result.all.emplace_back();
      individual.constituent_offsets = constituents;
      individual.bits = *bits;
      individual.labels = labels;
      individual.label_ranks = ranks;
    }
    return result;
  }
};

TEST(averages_do_not_depend_on_threads) {
  const Columns columns(500);
  Individuals individuals = columns.individuals();
  CHECK(individuals.check(1, 1).empty());
  StopSign sign([] {});
  const Averages one = average_all(individuals, {}, 1, sign), several = average_all(individuals, {}, 4, sign);
  CHECK(one.bits == columns.right && several.bits == columns.right);
  CHECK(one.objective == several.objective && one.objective.size() == 500);
  CHECK(std::all_of(one.optimal.begin(), one.optimal.end(), [](double optimal) { return optimal == 1; }));
}

TEST(what_the_question_throws_ends_all_threads) {
  const Columns columns(200'000);
  Individuals individuals = columns.individuals();
  CHECK(individuals.check(1, 1).empty());
  StopSign sign([] { throw std::domain_error("enough"); });
  std::this_thread::sleep_for(2 * StopSign::patience);
  CHECK_THROWS(std::domain_error, average_all(individuals, {}, 4, sign));
}

TEST(columns_that_are_no_individuals_are_refused) {
  const Columns columns(2);
  const std::vector<std::int64_t> huge{0, std::int64_t{1} << 62, std::int64_t{1} << 62}, decreasing{0, 4, 2};
  Individuals individuals = columns.individuals();
  individuals.word_offsets = huge;
  CHECK(!individuals.check(1, 1).empty());
  individuals = columns.individuals();
  individuals.all[1].constituent_offsets = decreasing;
  CHECK(individuals.check(1, 1).starts_with("individual 2 has "));
  individuals = columns.individuals();
  individuals.all[0].continuous = std::int64_t{1} << 61;
  CHECK(!individuals.check(1, 1).empty());
}

}  // namespace
