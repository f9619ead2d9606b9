// Labels of sets: unary chains, read from top to bottom, and votes on them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "averaging/hits.hpp"
#include "averaging/individuals.hpp"

namespace treemean::averaging {

// Some successive constituents of one individual that have the same words; only their labels matter.
struct Chain {
  std::uint32_t individual = 0;
  std::uint32_t length = 0;  // 0: none
  std::int64_t constituent = 0;
};

inline Chain chain_of(const Occurrence& occurrence) {
  return {occurrence.individual, occurrence.length, occurrence.constituent};
}

// The occurrences of a sentence by proposal.
class Voices {
 public:
  void sort(const HitCounter& counter);
  std::span<const Occurrence> of(std::size_t proposal) const {
    return std::span(sorted_).subspan(offsets_[proposal], offsets_[proposal + 1] - offsets_[proposal]);
  }

 private:
  std::vector<Occurrence> sorted_;
  std::vector<std::uint32_t> offsets_;
};

// A constituent of a chain that was chosen.
struct ChainNode {
  std::int32_t label = 0, function = 0;  // ranks
  std::int64_t weight = 0;               // of the individuals that have this label of this set
};

// Compares chains, and describes those that were chosen.
class ChainReader {
 public:
  explicit ChainReader(const Individuals& individuals);

  std::int32_t label(const Chain& chain, std::uint32_t place) const {
    return individuals_.all[chain.individual].label_rank(chain.constituent + place);
  }
  bool same(const Chain& a, const Chain& b) const;
  // The more frequent one in all of the treebank, and then by the alphabet.
  bool comes_first(const Chain& a, const Chain& b) const;
  // How many labels two chains have in common, as multisets.
  std::uint32_t common(const Chain& a, const Chain& b) const;
  // Where `other` has the label that `chain` has at a place: the second NP of a chain is the second one of
  // the other. -1 if nowhere.
  std::int64_t place_in(const Chain& other, const Chain& chain, std::uint32_t place) const;

  // Of what individuals say about a set, the chain with most weight; of equal ones that which comes first.
  Chain vote(std::span<const Occurrence> voices, bool discontinuous);

  // The constituents of a chain over a set: each has the function that most of the weight behind its label
  // gives it, of equal ones the more frequent, then the alphabetically first.
  void describe(const Chain& chain, std::span<const Occurrence> voices, bool discontinuous,
                std::vector<ChainNode>& nodes);

  // Whether all individuals that have a set have the same chain over it, and the same functions in it.
  bool agree(std::span<const Occurrence> voices) const;

  // Whether somebody tells functions.
  bool has_functions() const { return has_functions_; }
  // The label that all constituents of unlabelled trees have; -1 if there are several.
  std::int32_t only_label() const { return only_label_; }

 private:
  struct Tally {
    Chain chain;
    std::int64_t weight = 0;
  };
  struct FunctionTally {
    std::int32_t rank = 0;
    std::int64_t weight = 0;
  };

  std::int64_t weight_of(const Occurrence& voice, bool discontinuous) const {
    const Individual& individual = individuals_.all[voice.individual];
    return discontinuous ? individual.discontinuous : individual.continuous;
  }
  std::int64_t frequency(const Chain& chain) const;

  const Individuals& individuals_;
  bool has_functions_ = false;
  std::int32_t only_label_ = -1;
  std::vector<Tally> tallies_;
  std::vector<FunctionTally> function_tallies_;
};

// How often each label (by code) is the only one of its set, and how often chains of several occur.
struct ChainCounts {
  std::vector<std::int64_t> single;
  std::map<std::vector<std::int32_t>, std::int64_t> longer;
};

// Counts over a treebank whose columns were checked.
ChainCounts count_chains(const Individuals& individuals, std::size_t individual);

}  // namespace treemean::averaging
