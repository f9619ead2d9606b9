#include "averaging/chains.hpp"

#include <algorithm>

namespace treemean::averaging {

void Voices::sort(const HitCounter& counter) {
  const auto& occurrences = counter.occurrences();
  offsets_.assign(counter.proposals().size() + 2, 0);
  for (const Occurrence& occurrence : occurrences) ++offsets_[occurrence.proposal + 2];
  for (std::size_t p = 2; p < offsets_.size(); ++p) offsets_[p] += offsets_[p - 1];
  sorted_.resize(occurrences.size());
  for (const Occurrence& occurrence : occurrences) sorted_[offsets_[occurrence.proposal + 1]++] = occurrence;
}

ChainReader::ChainReader(const Individuals& individuals) : individuals_(individuals) {
  bool several = false;
  for (const Individual& individual : individuals.all) {
    has_functions_ |= individual.has_functions();
    for (const std::int32_t rank : individual.label_ranks) {
      several |= only_label_ >= 0 && rank != only_label_;
      only_label_ = rank;
    }
  }
  if (several) only_label_ = -1;
}

bool ChainReader::same(const Chain& a, const Chain& b) const {
  if (a.length != b.length) return false;
  for (std::uint32_t i = 0; i < a.length; ++i) {
    if (label(a, i) != label(b, i)) return false;
  }
  return true;
}

std::int64_t ChainReader::frequency(const Chain& chain) const {
  if (chain.length == 1) return Frequencies::of(individuals_.frequencies.labels, label(chain, 0));
  std::vector<std::int32_t> ranks(chain.length);
  for (std::uint32_t i = 0; i < chain.length; ++i) ranks[i] = label(chain, i);
  const auto known = individuals_.frequencies.longer_chains.find(ranks);
  return known == individuals_.frequencies.longer_chains.end() ? 0 : known->second;
}

bool ChainReader::comes_first(const Chain& a, const Chain& b) const {
  const std::int64_t often_a = frequency(a), often_b = frequency(b);
  if (often_a != often_b) return often_a > often_b;
  for (std::uint32_t i = 0; i < a.length && i < b.length; ++i) {
    if (label(a, i) != label(b, i)) return label(a, i) < label(b, i);
  }
  return a.length < b.length;
}

std::int64_t ChainReader::place_in(const Chain& other, const Chain& chain, std::uint32_t place) const {
  if (chain.length == 1 && other.length == 1) return label(chain, 0) == label(other, 0) ? 0 : -1;
  const std::int32_t wanted = label(chain, place);
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < place; ++i) before += label(chain, i) == wanted;
  for (std::uint32_t i = 0; i < other.length; ++i) {
    if (label(other, i) == wanted && before-- == 0) return i;
  }
  return -1;
}

std::uint32_t ChainReader::common(const Chain& a, const Chain& b) const {
  if (a.length == 1 && b.length == 1) return label(a, 0) == label(b, 0);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < a.length; ++i) count += place_in(b, a, i) >= 0;
  return count;
}

bool ChainReader::agree(std::span<const Occurrence> voices) const {
  const Occurrence& first = voices.front();
  const Individual& one = individuals_.all[first.individual];
  for (const Occurrence& voice : voices.subspan(1)) {
    if (!same(chain_of(voice), chain_of(first))) return false;
    const Individual& other = individuals_.all[voice.individual];
    if (other.has_functions() != one.has_functions()) return false;
    for (std::uint32_t i = 0; i < first.length && one.has_functions(); ++i) {
      if (one.function_rank(first.constituent + i) != other.function_rank(voice.constituent + i))
        return false;
    }
  }
  return true;
}

Chain ChainReader::vote(std::span<const Occurrence> voices, bool discontinuous) {
  tallies_.clear();
  for (const Occurrence& voice : voices) {
    const Chain chain = chain_of(voice);
    const std::int64_t weight = weight_of(voice, discontinuous);
    const auto known = std::find_if(tallies_.begin(), tallies_.end(),
                                    [&](const Tally& tally) { return same(tally.chain, chain); });
    if (known == tallies_.end()) tallies_.push_back({chain, weight});
    else known->weight += weight;
  }
  return std::min_element(tallies_.begin(), tallies_.end(),
                          [&](const Tally& a, const Tally& b) {
                            return a.weight != b.weight ? a.weight > b.weight : comes_first(a.chain, b.chain);
                          })
      ->chain;
}

void ChainReader::describe(const Chain& chain, std::span<const Occurrence> voices, bool discontinuous,
                           std::vector<ChainNode>& nodes) {
  nodes.clear();
  if (agree(voices) && same(chain, chain_of(voices.front()))) {
    std::int64_t weight = 0;
    for (const Occurrence& voice : voices) weight += weight_of(voice, discontinuous);
    const Individual& one = individuals_.all[voices.front().individual];
    for (std::uint32_t i = 0; i < chain.length; ++i) {
      const std::int64_t constituent = voices.front().constituent + i;
      nodes.push_back({label(chain, i), one.has_functions() ? one.function_rank(constituent) : 0, weight});
    }
    return;
  }
  for (std::uint32_t i = 0; i < chain.length; ++i) {
    ChainNode& node = nodes.emplace_back();
    node.label = label(chain, i);
    function_tallies_.clear();
    for (const Occurrence& voice : voices) {
      const std::int64_t place = place_in(chain_of(voice), chain, i);
      if (place < 0) continue;
      const std::int64_t weight = weight_of(voice, discontinuous);
      node.weight += weight;
      const Individual& individual = individuals_.all[voice.individual];
      if (!individual.has_functions()) continue;
      const std::int32_t rank = individual.function_rank(voice.constituent + place);
      const auto known = std::find_if(function_tallies_.begin(), function_tallies_.end(),
                                      [&](const FunctionTally& tally) { return tally.rank == rank; });
      if (known == function_tallies_.end()) function_tallies_.push_back({rank, weight});
      else known->weight += weight;
    }
    if (function_tallies_.empty()) continue;
    const std::span<const std::int64_t> often = individuals_.frequencies.functions;
    const auto best = std::min_element(function_tallies_.begin(), function_tallies_.end(),
                                       [&](const FunctionTally& a, const FunctionTally& b) {
                                         if (a.weight != b.weight) return a.weight > b.weight;
                                         const std::int64_t often_a = Frequencies::of(often, a.rank),
                                                            often_b = Frequencies::of(often, b.rank);
                                         return often_a != often_b ? often_a > often_b : a.rank < b.rank;
                                       });
    node.function = best->rank;
  }
}

ChainCounts count_chains(const Individuals& individuals, std::size_t which) {
  const Individual& individual = individuals.all[which];
  ChainCounts counts;
  counts.single.assign(individual.label_ranks.size(), 0);
  std::vector<std::int32_t> codes;
  for (std::int64_t s = 0; s < individuals.sentences(); ++s) {
    const auto width = static_cast<std::size_t>(individuals.words(s) + 63) / 64;
    const std::uint64_t* row = individual.bits.data() + individual.bit_offsets[s];
    const std::int64_t end = individual.constituent_offsets[s + 1];
    for (std::int64_t c = individual.constituent_offsets[s]; c < end;) {
      codes.clear();
      const std::uint64_t* const first = row;
      do {
        codes.push_back(individual.labels[c++]);
        row += width;
      } while (c < end && std::equal(first, first + width, row));
      if (codes.size() == 1) ++counts.single[static_cast<std::size_t>(codes[0])];
      else ++counts.longer[codes];
    }
  }
  return counts;
}

}  // namespace treemean::averaging
