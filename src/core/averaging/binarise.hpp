// Adding sets to a tree until it is binary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace treemean::averaging {

// How children are joined: from the left; from the right; from the one that holds the last word, so that all
// sets that are added end there; or in halves.
enum class Direction { left, right, last, balanced };

struct AddedSet {
  std::vector<std::uint64_t> words;
  std::uint32_t parent;  // the set that it divides
};

// Returns the sets that are missing. `sets` are those of a tree in canonical order (by first word, larger
// ones first), without repetitions; single words need not be among them. O(sum of sizes + added sets ×
// width).
std::vector<AddedSet> missing_sets(const std::vector<const std::uint64_t*>& sets, std::int64_t words,
                                   Direction direction);

}  // namespace treemean::averaging
