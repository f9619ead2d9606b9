// The average of one sentence, with labels and numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "averaging/binarise.hpp"
#include "averaging/hits.hpp"
#include "averaging/individuals.hpp"
#include "averaging/optima.hpp"
#include "averaging/solver.hpp"

namespace treemean::averaging {

// Averages of some sentences, in columns.
struct Averages {
  std::vector<std::int64_t> constituent_counts;
  std::vector<std::uint64_t> bits;
  std::vector<std::int32_t> labels;  // ranks; those of sets that were added to make a tree binary are -1 - rank
  std::vector<double> support;
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
    const std::uint64_t* words;
    std::int64_t first, size;
    std::int64_t proposal;  // -1 if nobody proposed it
    std::int32_t label;     // a rank; if it was added to make the tree binary, that of the set it divides
    bool added;
  };
  static constexpr std::int32_t no_label = -1, disputed_label = -2;
  struct LabelWeight {
    std::int32_t rank;
    std::int64_t weight;
  };

  void add_outcome(std::int64_t nodes, double seconds, Averages& averages);
  void choose_members();
  void add_binary_members();
  std::int32_t label_of(const Occurrence& occurrence) const;
  void choose_labels();
  void settle_disputed_labels();
  void sort_members();
  void write(Averages& averages) const;
  double average_f1() const;

  const Individuals& individuals_;
  Options options_;
  StopSign& sign_;
  double total_weight_ = 0, total_discontinuous_ = 0, objective_factor_ = 0;
  std::int32_t only_label_ = no_label;
  Solver solver_;
  HitCounter counter_;
  Outcome outcome_;
  std::size_t width_ = 0;
  std::vector<Member> members_;
  std::vector<AddedSet> added_;
  std::vector<std::int64_t> member_of_;                  // by proposal: its number as a member, or -1
  std::vector<std::vector<LabelWeight>> label_weights_;  // by member
};

}  // namespace treemean::averaging
