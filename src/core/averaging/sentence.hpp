// The average of one sentence, with labels and numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "averaging/binarise.hpp"
#include "averaging/chains.hpp"
#include "averaging/hits.hpp"
#include "averaging/individuals.hpp"
#include "averaging/labelled.hpp"
#include "averaging/optima.hpp"
#include "averaging/solver.hpp"

namespace treemean::averaging {

// Averages of some sentences, in columns.
struct Averages {
  std::vector<std::int64_t> constituent_counts;
  std::vector<std::uint64_t> bits;
  // Ranks; those of sets that were added to make a tree binary are -1 - rank.
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> functions;  // ranks
  // The share of the weight that has a constituent's words, and that has them under this label.
  std::vector<double> support, support_labelled;
  std::vector<double> objective, average_f1, upper_bound, optimal, seconds;
  std::vector<std::int64_t> nodes, candidates;
};

class SentenceAverager {
 public:
  // The work throws when the sign is raised.
  SentenceAverager(const Individuals& individuals, const Options& options, StopSign& sign);

  void add(std::int64_t sentence, Averages& averages);

  // Adds the best trees of a sentence that has words, see `best_trees`; throws `Undecided`.
  void add_best(std::int64_t sentence, std::size_t limit, bool only_optimal, Averages& averages);
  // Factors of the number of best trees.
  std::vector<Count> count_best(std::int64_t sentence);

 private:
  // A set of the result.
  struct Member {
    const std::uint64_t* words = nullptr;
    std::int64_t first = 0, size = 0;
    std::int64_t proposal = -1;  // -1 if nobody proposed it
    Chain chain;                 // none of sets that were added to make the tree binary
    std::int32_t label =
        0;  // the rank of the lowest one; of a set that was added, that of the set it divides
    bool added = false;
    bool agreed = false;  // whether all individuals that have the set have this chain over it
  };

  void add_outcome(std::int64_t nodes, double seconds, Averages& averages);
  void choose_members();
  void add_binary_members();
  // The instance of a sentence with words.
  const Instance& count(std::int64_t sentence);
  void add_member(std::size_t proposal, const Chain& chain);
  void choose_labelled_members();
  bool is_discontinuous(std::int64_t proposal) const;
  void choose_labels();
  // Who votes on the labels over a set: trees, and tables of spans only where no tree has the set.
  std::span<const Occurrence> voters(const Member& member) const;
  // How much of the weight has each proposal.
  void add_up_support();
  void sort_members();
  void describe(const Member& member);
  void write(Averages& averages);
  double average_f1() const;
  double average_labelled_f1();

  const Individuals& individuals_;
  Options options_;
  StopSign& sign_;
  double total_weight_ = 0, total_discontinuous_ = 0, objective_factor_ = 0;
  double weight_of_trees_ = 0;  // tables of spans say nothing of single words
  ChainReader reader_;
  bool plain_labels_ = false;  // whether all constituents of the sentence have the same label and no function
  Solver solver_;
  HitCounter counter_;
  LabelledHits labelled_;
  Outcome outcome_;
  std::size_t width_ = 0;
  std::vector<Member> members_;
  std::vector<AddedSet> added_;
  Voices voices_;
  std::vector<ChainNode> nodes_;
  std::vector<double> support_;  // of proposals
};

}  // namespace treemean::averaging
