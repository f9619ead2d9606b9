// What the individuals propose, as columns over many sentences.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace treemean::averaging {

// One individual's treebank (see the columns of `Treebank`), and its weights.
struct Individual {
  std::span<const std::int64_t> constituent_offsets;
  std::span<const std::uint64_t> bits;
  std::span<const std::int32_t> labels;       // codes
  std::span<const std::int32_t> label_ranks;  // of a code: its place among all individuals' labels, alphabetically
  std::span<const double> values;             // what each constituent is worth; 1 each if empty
  std::int64_t continuous = 1, discontinuous = 1;
  std::vector<std::int64_t> bit_offsets;  // of sentences, filled in by `check`

  bool has_say() const { return continuous != 0 || discontinuous != 0; }
};

struct Individuals {
  std::span<const std::int64_t> word_offsets;
  std::vector<Individual> all;
  // Values times weights are multiplied by this and rounded; weights of fixed constituents likewise.
  double value_scale = 1;
  bool typed = false;   // whether some weights depend on continuity
  bool valued = false;  // whether constituents have values

  std::int64_t sentences() const { return static_cast<std::int64_t>(word_offsets.size()) - 1; }
  std::int64_t words(std::int64_t s) const { return word_offsets[s + 1] - word_offsets[s]; }

  // Says what is wrong with the columns, so that nothing is read beyond their ends, or what would overflow with
  // β² = p / q; empty if nothing.
  std::string check(std::int64_t p, std::int64_t q);

 private:
  std::string check_room(std::int64_t p, std::int64_t q) const;
};

}  // namespace treemean::averaging
