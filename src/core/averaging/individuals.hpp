// What the individuals propose, as columns over many sentences.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace treemean::averaging {

// One individual's treebank (see the columns of `Treebank`), and its weights.
struct Individual {
  std::span<const std::int64_t> constituent_offsets;
  std::span<const std::uint64_t> bits;
  std::span<const std::int32_t> labels;  // codes
  // Of a code: its place among all individuals' labels, alphabetically.
  std::span<const std::int32_t> label_ranks;
  // Likewise; without codes where an individual tells no functions at all.
  std::span<const std::int32_t> functions;
  std::span<const std::int32_t> function_ranks;
  std::span<const double> values;             // what each constituent is worth; 1 each if empty
  std::span<const std::int64_t> preferences;  // what it is worth between equally good trees; 0 each if empty
  // Of a table of spans, which may cross: how likely each set is a constituent, and of every sentence how
  // many constituents of 2 to words - 1 words a tree is expected to have. Both are empty for trees.
  std::span<const double> posteriors;
  std::span<const std::int64_t> sizes;
  std::int64_t continuous = 1, discontinuous = 1;
  std::vector<std::int64_t> bit_offsets;  // of sentences, filled in by `check`

  bool is_trees() const { return sizes.empty(); }
  // How much of a constituent the individual has: all of it if it is a tree.
  double share(std::int64_t constituent) const {
    return posteriors.empty() ? 1 : posteriors[static_cast<std::size_t>(constituent)];
  }
  bool has_say() const { return continuous != 0 || discontinuous != 0; }
  bool has_functions() const { return !functions.empty(); }
  std::int32_t label_rank(std::int64_t constituent) const {
    return label_ranks[static_cast<std::size_t>(labels[static_cast<std::size_t>(constituent)])];
  }
  std::int64_t preference(std::int64_t constituent) const {
    return preferences.empty() ? 0 : preferences[static_cast<std::size_t>(constituent)];
  }
  std::int32_t function_rank(std::int64_t constituent) const {
    return function_ranks[static_cast<std::size_t>(functions[static_cast<std::size_t>(constituent)])];
  }
};

// How often labels and functions occur in all of the treebank, by rank. Ranks beyond the end never do.
struct Frequencies {
  std::span<const std::int64_t> labels;                             // as the only one of their set
  std::map<std::vector<std::int32_t>, std::int64_t> longer_chains;  // of two labels and more
  std::span<const std::int64_t> functions;

  static std::int64_t of(std::span<const std::int64_t> counts, std::int32_t rank) {
    return static_cast<std::size_t>(rank) < counts.size() ? counts[static_cast<std::size_t>(rank)] : 0;
  }
};

struct Individuals {
  std::span<const std::int64_t> word_offsets;
  std::vector<Individual> all;
  Frequencies frequencies;
  // Values times weights are multiplied by this and rounded; weights of fixed constituents likewise.
  double value_scale = 1;
  bool typed = false;   // whether some weights depend on continuity
  bool valued = false;  // whether constituents have values

  std::int64_t sentences() const { return static_cast<std::int64_t>(word_offsets.size()) - 1; }
  std::int64_t words(std::int64_t s) const { return word_offsets[s + 1] - word_offsets[s]; }

  // What fixed constituents are worth on an individual's side.
  std::int64_t fixed_weight(std::size_t individual) const;
  // What an individual's constituent is worth there.
  std::int64_t worth(std::size_t individual, std::int64_t constituent, bool discontinuous) const;

  // Says what is wrong with the columns, so that nothing is read beyond their ends, or what would overflow
  // with β² = p / q, and with chains of labels; empty if nothing.
  std::string check(std::int64_t p, std::int64_t q, bool labelled = false);
  // The same only about overflows, with preferences up to a size.
  std::string check_room(std::int64_t p, std::int64_t q, bool labelled, double largest_preference) const;
};

}  // namespace treemean::averaging
