// The joint average of sets and labels: sets with chains of labels as candidates.
#pragma once

#include <cstdint>
#include <vector>

#include "averaging/chains.hpp"
#include "averaging/hits.hpp"
#include "averaging/instance.hpp"
#include "averaging/solver.hpp"

namespace treemean::averaging {

// Reused from sentence to sentence.
class LabelledHits {
 public:
  // Fills the instance of a sentence whose proposals were found. O(K) chains for every set, each compared
  // with all individuals that have the set.
  void build(const Individuals& individuals, std::int64_t sentence, const HitCounter& counter,
             const Voices& voices, const ChainReader& reader, const Options& options);

  const Instance& instance() const { return instance_; }
  // The proposal and the chain of a candidate.
  std::uint32_t proposal(std::uint32_t candidate) const { return proposal_of_[candidate]; }
  const Chain& chain(std::uint32_t candidate) const { return chains_[candidate]; }
  // How many labelled constituents an individual's tree has, with all single words.
  std::int64_t size_of(std::size_t individual) const { return size_of_[individual]; }

 private:
  void make_groups(const Individuals& individuals, std::int64_t sentence);
  void find_chains(std::span<const Occurrence> voices, const ChainReader& reader, bool keep_chains);
  void add_candidate(const Individuals& individuals, const Proposal& proposal,
                     std::span<const Occurrence> voices, const ChainReader& reader, const Chain& chain);

  Instance instance_;
  std::vector<std::uint32_t> proposal_of_;
  std::vector<Chain> chains_;
  std::vector<std::int64_t> size_of_;
  std::vector<std::uint32_t> group_of_;
  std::vector<Chain> found_;
};

}  // namespace treemean::averaging
