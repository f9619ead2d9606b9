// Counting: which sets of words the individuals propose for a sentence, and with how much weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "averaging/individuals.hpp"
#include "averaging/instance.hpp"

namespace treemean::averaging {

// A set that somebody proposes.
struct Proposal {
  const std::uint64_t* words;
  std::int64_t weight;            // of the individuals that have it
  std::uint32_t last_individual;  // that had it
  std::int32_t candidate;         // its number in the instance, or whole / single_word
  bool discontinuous;

  static constexpr std::int32_t whole = -1;
  static constexpr std::int32_t single_word = -2;
};

// That an individual has a set, perhaps as a unary chain of several constituents; without labels only the
// uppermost one of these counts.
struct Occurrence {
  std::uint32_t proposal;
  std::uint32_t individual;
  std::int64_t constituent;  // the uppermost one, in the individual's columns; the others follow
  std::uint32_t length;      // of the chain
};

// Reused from sentence to sentence, so that memory is asked for only once.
class HitCounter {
 public:
  // Fills proposals and occurrences of one sentence of at least one word. O(number of constituents).
  void find(const Individuals& individuals, std::int64_t sentence);
  // The same, and the instance of the average without labels.
  void count(const Individuals& individuals, std::int64_t sentence, std::int64_t p, std::int64_t q);

  // Has the instance prefer some of equally good trees.
  void prefer(const Individuals& individuals, Ties ties);

  // Forgets the last sentence: one without words has nothing.
  void clear();

  // The proposal with these words, or -1.
  std::int64_t find(const std::uint64_t* words) const;

  const Instance& instance() const { return instance_; }
  const std::vector<Proposal>& proposals() const { return proposals_; }
  const std::vector<Occurrence>& occurrences() const { return occurrences_; }
  // Whether somebody has a unary chain.
  bool has_chains() const { return has_chains_; }
  // The proposal of every candidate.
  const std::vector<std::uint32_t>& proposal_of() const { return proposal_of_; }
  // How many constituents an individual's tree has, with all single words and the whole sentence.
  std::int64_t size_of(std::size_t individual) const { return size_of_[individual]; }

 private:
  // Where the table has the set with these words, or has room for it.
  std::size_t place_of(const std::uint64_t* words) const {
    return width_ == 1 ? place_of_word(*words) : place_of_words(words);
  }
  std::size_t place_of_word(std::uint64_t word) const;
  std::size_t place_of_words(const std::uint64_t* words) const;
  std::uint32_t find_or_add(const std::uint64_t* words);
  void make_groups(const Individuals& individuals);
  void sum_hits(const Individuals& individuals);

  Instance instance_;
  std::vector<Proposal> proposals_;
  std::vector<Occurrence> occurrences_;
  std::vector<std::uint32_t> proposal_of_;
  std::vector<std::int64_t> size_of_;
  std::vector<std::uint32_t> group_of_;
  std::vector<std::uint32_t> table_;  // open addressing: number of the proposal + 1, 0 where empty
  bool has_chains_ = false;
  unsigned table_shift_ = 0;
  std::size_t width_ = 0;
};

}  // namespace treemean::averaging
