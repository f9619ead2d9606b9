#include "averaging/labelled.hpp"

#include <algorithm>

#include "averaging/preferences.hpp"

namespace treemean::averaging {

void LabelledHits::build(const Individuals& individuals, std::int64_t sentence, const HitCounter& counter,
                         const Voices& voices, const ChainReader& reader, const Options& options) {
  const std::int64_t words = individuals.words(sentence);
  const bool binary = options.goal == Goal::binary;
  instance_.labelled = true;
  instance_.words = words;
  // Every set of several words of a binary tree has a label, that of an input or not.
  instance_.fixed = binary ? 2 * words - 1 : words;
  instance_.p = options.p;
  instance_.q = options.q;
  make_groups(individuals, sentence);
  instance_.candidates.clear();
  instance_.hits.clear();
  instance_.costs.clear();
  instance_.preferences.clear();
  proposal_of_.clear();
  chains_.clear();
  const auto width = static_cast<std::size_t>(words + 63) / 64;
  for (std::uint32_t p = 0; p < counter.proposals().size(); ++p) {
    const Proposal& proposal = counter.proposals()[p];
    const std::span<const Occurrence> heard = voices.of(p);
    find_chains(heard, reader, options.keep_chains);
    const Row row = make_row(proposal.words, width);
    const bool labelled_anyway = binary && !has_one(row);
    for (const Chain& chain : found_) {
      instance_.candidates.push_back(row);
      instance_.costs.push_back(std::int64_t{chain.length} - (labelled_anyway ? 1 : 0));
      proposal_of_.push_back(p);
      if (options.ties != Ties::canonical) {
        const Individual& individual = individuals.all[chain.individual];
        std::int64_t sum = 0;
        for (std::uint32_t i = 0; i < chain.length; ++i)
          sum += preference_of(proposal.words, width, options.ties, individual, chain.constituent + i);
        instance_.preferences.push_back(sum);
      }
      chains_.push_back(chain);
      add_candidate(individuals, proposal, heard, reader, chain);
    }
  }
}

// Groups of equal sizes, and what every tree has in common with each group: the words.
void LabelledHits::make_groups(const Individuals& individuals, std::int64_t sentence) {
  size_of_.clear();
  instance_.sizes.clear();
  for (const Individual& individual : individuals.all) {
    size_of_.push_back(instance_.words + individual.constituent_offsets[sentence + 1] -
                       individual.constituent_offsets[sentence]);
    if (individual.has_say()) instance_.sizes.push_back(size_of_.back());
  }
  std::sort(instance_.sizes.begin(), instance_.sizes.end());
  instance_.sizes.erase(std::unique(instance_.sizes.begin(), instance_.sizes.end()), instance_.sizes.end());
  instance_.base.assign(instance_.groups(), 0);
  group_of_.assign(individuals.all.size(), 0);
  std::int64_t total = 0;
  for (std::size_t k = 0; k < individuals.all.size(); ++k) {
    if (!individuals.all[k].has_say()) continue;
    const auto group = std::lower_bound(instance_.sizes.begin(), instance_.sizes.end(), size_of_[k]);
    group_of_[k] = static_cast<std::uint32_t>(group - instance_.sizes.begin());
    const std::int64_t weight = individuals.fixed_weight(k);
    instance_.base[group_of_[k]] += weight * instance_.words;
    total += weight;
  }
  instance_.majority_total = individuals.typed || individuals.valued ? 0 : total;
}

// The different chains, or single labels, over a set; in order of preference.
void LabelledHits::find_chains(std::span<const Occurrence> voices, const ChainReader& reader,
                               bool keep_chains) {
  found_.clear();
  const auto offer = [&](const Chain& chain) {
    if (std::none_of(found_.begin(), found_.end(),
                     [&](const Chain& other) { return reader.same(chain, other); }))
      found_.push_back(chain);
  };
  for (const Occurrence& voice : voices) {
    if (keep_chains) {
      offer(chain_of(voice));
    } else {
      for (std::uint32_t i = 0; i < voice.length; ++i) offer({voice.individual, 1, voice.constituent + i});
    }
  }
  if (found_.size() > 1) {
    std::sort(found_.begin(), found_.end(),
              [&](const Chain& a, const Chain& b) { return reader.comes_first(a, b); });
  }
}

// Hits are what a chain has in common with each individual's.
void LabelledHits::add_candidate(const Individuals& individuals, const Proposal& proposal,
                                 std::span<const Occurrence> voices, const ChainReader& reader,
                                 const Chain& chain) {
  const std::size_t at = instance_.hits.size();
  instance_.hits.resize(at + instance_.groups(), 0);
  for (const Occurrence& voice : voices) {
    std::int64_t worth = 0;
    if (!individuals.valued) {
      const Individual& individual = individuals.all[voice.individual];
      worth = (proposal.discontinuous ? individual.discontinuous : individual.continuous) *
              reader.common(chain, chain_of(voice));
    } else {
      for (std::uint32_t i = 0; i < chain.length; ++i) {
        const std::int64_t place = reader.place_in(chain_of(voice), chain, i);
        if (place >= 0)
          worth += individuals.worth(voice.individual, voice.constituent + place, proposal.discontinuous);
      }
    }
    instance_.hits[at + group_of_[voice.individual]] += worth;
  }
}

}  // namespace treemean::averaging
