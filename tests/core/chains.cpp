// Chains of labels: what two have in common, which comes first, votes and functions.
#include "averaging/chains.hpp"

#include <array>

#include "check.hpp"

namespace {

using namespace treemean::averaging;

// Three individuals over one word, whose constituents all have that word: NP; NP over VP; NP over VP over NP.
struct Words {
  std::array<std::int64_t, 2> words = {0, 1};
  std::array<std::int64_t, 2> one = {0, 1}, two = {0, 2}, three = {0, 3};
  std::array<std::uint64_t, 3> bits = {1, 1, 1};
  std::array<std::int32_t, 3> labels = {0, 1, 0};
  std::array<std::int32_t, 3> functions = {1, 0, 1};
  std::array<std::int32_t, 2> ranks = {0, 1};
  std::array<std::int64_t, 2> often = {1, 5};
  Individuals individuals;

  Words() {
    individuals.word_offsets = words;
    for (const auto& offsets : {std::span(one), std::span(two), std::span(three)}) {
      const auto count = static_cast<std::size_t>(offsets.back());
      Individual& individual = individuals.all.emplace_back();
      individual.constituent_offsets = offsets;
      individual.bits = std::span(bits).first(count);
      individual.labels = std::span(labels).first(count);
      individual.label_ranks = ranks;
      individual.functions = std::span(functions).first(count);
      individual.function_ranks = ranks;
    }
    individuals.frequencies.labels = often;
    individuals.frequencies.longer_chains = {{{0, 1}, 3}};
    individuals.frequencies.functions = often;
    CHECK(individuals.check(1, 1).empty());
  }
};

TEST(chains_have_labels_in_common) {
  const Words words;
  const ChainReader reader(words.individuals);
  const Chain np{0, 1, 0}, vp{1, 1, 1}, both{1, 2, 0}, all{2, 3, 0};
  CHECK(reader.only_label() == -1);
  CHECK(reader.has_functions());
  CHECK(reader.same(np, {2, 1, 2}));
  CHECK(!reader.same(np, both));
  CHECK(reader.common(np, vp) == 0);
  CHECK(reader.common(np, all) == 1);
  CHECK(reader.common(both, all) == 2);
  CHECK(reader.common(all, all) == 3);
  CHECK(reader.place_in(all, all, 2) == 2);
  CHECK(reader.place_in(both, all, 2) == -1);
  // By frequency, and then by the alphabet.
  CHECK(reader.comes_first(vp, np));
  CHECK(reader.comes_first(both, np));
  CHECK(reader.comes_first(np, all));
}

TEST(votes_on_chains_and_functions) {
  Words words;
  words.individuals.all[0].continuous = 2;
  ChainReader reader(words.individuals);
  const std::array<Occurrence, 3> voices = {{{0, 0, 0, 1}, {0, 1, 0, 2}, {0, 2, 0, 3}}};
  CHECK(reader.vote(voices, false).length == 1);
  CHECK(reader.vote(voices, true).length == 2);  // all weigh the same; this one is the most frequent
  std::vector<ChainNode> nodes;
  reader.describe({1, 2, 0}, voices, false, nodes);
  CHECK(nodes.size() == 2);
  CHECK(nodes[0].label == 0 && nodes[0].function == 1 && nodes[0].weight == 4);
  CHECK(nodes[1].label == 1 && nodes[1].function == 0 && nodes[1].weight == 2);
}

TEST(chains_are_counted) {
  const Words words;
  const ChainCounts single = count_chains(words.individuals, 0), longer = count_chains(words.individuals, 1);
  CHECK((single.single == std::vector<std::int64_t>{1, 0}) && single.longer.empty());
  CHECK((longer.single == std::vector<std::int64_t>{0, 0}));
  CHECK(longer.longer.size() == 1 && longer.longer.at({0, 1}) == 1);
}

}  // namespace
