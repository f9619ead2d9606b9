// Checks that columns from outside are a treebank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace treemean {

// The columns of a treebank that say how its trees are built.
struct TreeColumns {
  std::span<const std::int64_t> word_offsets, constituent_offsets;
  std::span<const std::uint64_t> bits;
};

// Whether offsets begin with 0 and do not decrease.
bool ascending_from_zero(std::span<const std::int64_t> offsets);

// Returns the first bad sentence and what is wrong with it. The offsets themselves must be sound: they begin
// with 0, do not decrease, and end with the number of words, constituents and bit words.
// O(sum of the sizes of all constituents).
std::optional<std::pair<std::int64_t, std::string>> find_invalid(const TreeColumns& trees);

// What is wrong with the sets of one sentence of n words, in (n + 63) / 64 bit words each, or nothing.
// `owner` is scratch. O(sum of their sizes).
std::string fault_of_tree(std::int64_t n, std::int64_t count, const std::uint64_t* rows,
                          std::vector<std::int64_t>& owner);

}  // namespace treemean
