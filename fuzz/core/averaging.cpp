// Averages: trees of as many words as the first one are individuals; what comes out is a tree.
//
// The first byte chooses the options, the second and the third the weights; then discbracket follows.
#include <cstdint>
#include <numeric>
#include <vector>

#include "averaging/batch.hpp"
#include "averaging/stop_sign.hpp"
#include "fuzzing.hpp"

namespace {

using namespace treemean;

// Longer ones take their time, and find no more.
constexpr std::int64_t longest = 24;
constexpr std::size_t most_individuals = 8;

// The columns of one sentence, as a treebank of its own.
struct Single {
  std::vector<std::int64_t> constituent_offsets;
  std::vector<std::uint64_t> bits;
  std::vector<std::int32_t> labels;
};

std::vector<Single> individuals_of(const Columns& columns) {
  std::vector<Single> found;
  std::size_t at = 0;
  const std::int64_t words = columns.word_offsets[1];
  for (std::size_t s = 0; s < columns.sentences(); ++s) {
    const std::int64_t n = columns.word_offsets[s + 1] - columns.word_offsets[s];
    const std::int64_t first = columns.constituent_offsets[s],
                       count = columns.constituent_offsets[s + 1] - first;
    const std::size_t width = (static_cast<std::size_t>(n) + 63) / 64 * static_cast<std::size_t>(count);
    if (n == words && found.size() < most_individuals) {
      const auto bits = columns.bits.begin() + static_cast<std::ptrdiff_t>(at);
      const auto labels = columns.labels.codes.begin() + first;
      found.push_back(
          {{0, count}, {bits, bits + static_cast<std::ptrdiff_t>(width)}, {labels, labels + count}});
    }
    at += width;
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 3, size - 3);
  const BracketResult read = read_brackets(text, {.discontinuous = true}, {.final = true, .skip = true});
  if (read.columns.sentences() == 0 || read.columns.word_offsets[1] > longest) return 0;
  const std::vector<Single> singles = individuals_of(read.columns);

  std::vector<std::int32_t> ranks(read.columns.labels.vocabulary.offsets.size() - 1);
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::vector<std::int64_t> word_offsets{0, read.columns.word_offsets[1]};
  averaging::Individuals individuals;
  individuals.word_offsets = word_offsets;
  for (const Single& single : singles) {
    averaging::Individual& one = individuals.all.emplace_back();
    one.constituent_offsets = single.constituent_offsets;
    one.bits = single.bits;
    one.labels = single.labels;
    one.label_ranks = ranks;
    one.continuous = data[1] % 5;
    one.discontinuous = data[2] % 5;
    individuals.typed |= one.continuous != one.discontinuous;
  }
  averaging::Options options;
  options.goal = (data[0] & 1) != 0 ? averaging::Goal::binary : averaging::Goal::average;
  options.labelled = (data[0] & 2) != 0;
  options.keep_chains = (data[0] & 4) != 0;
  options.p = 1 + (data[0] >> 5);
  options.node_limit = 2000;
  if (!individuals.check(options.p, options.q, options.labelled).empty()) return 0;
  averaging::StopSign sign([] {});
  const averaging::Averages found = averaging::average_all(individuals, options, 1, sign);
  const std::vector<std::int64_t> offsets{0, found.constituent_counts.at(0)};
  fuzzing::check(!find_invalid({word_offsets, offsets, found.bits}));
  fuzzing::check(found.objective.at(0) >= 0 && found.objective.at(0) <= found.upper_bound.at(0) + 1e-9);
  return 0;
}
