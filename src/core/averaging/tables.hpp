// For every number of members: the heaviest independent sets of a graph, and how many there are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/integers.hpp"
#include "averaging/packing.hpp"
#include "averaging/vertex_set.hpp"

namespace treemean::averaging {

using Count = unsigned __int128;

struct TableEntry {
  Int128 value;      // of the heaviest independent sets with this number of members
  Count count;       // how many there are; `too_many` or more cannot be told apart
  DynamicSet first;  // the first of them in canonical order
};

constexpr Count too_many = Count{1} << 127;

// Entry j is about sets with j members; it ends with the last j for which there is an independent set.
using Table = std::vector<TableEntry>;

// Entries of two graphs without edges between them, up to `max_members`.
Table combine(const Table& a, const Table& b, std::size_t max_members);

// The table of the sets in `alive` (weights of any sign), or nothing if the budget did not suffice: the search is
// exponential in the size of components.
std::optional<Table> member_table(const Component& component, std::span<const Int128> weights, const DynamicSet& alive,
                                  std::size_t capacity, std::size_t max_members, Budget& budget);

// The same for all sets of a packing; only those with `keep` set take part.
std::optional<Table> member_table(const Packing& packing, std::span<const Int128> weights,
                                  const std::vector<bool>& keep, std::size_t max_members, Budget& budget);

}  // namespace treemean::averaging
