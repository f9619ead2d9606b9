// For every number of members: the heaviest independent sets of a graph, and how many there are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/integers.hpp"
#include "averaging/packing.hpp"
#include "averaging/vertex_set.hpp"

namespace treemean::averaging {

using Count = unsigned __int128;

template <class Value>
struct TableEntry {
  Value value;      // of the heaviest independent sets with this number of members
  Count count;       // how many there are; `too_many` or more cannot be told apart
  DynamicSet first;  // the first of them in canonical order
};

// Two of these can be added.
constexpr Count too_many = Count{1} << 126;

// Entry j is about sets with j members; it ends with the last j for which there is an independent set.
template <class Value>
using Table = std::vector<TableEntry<Value>>;

// The table of the sets in `alive` (weights of any sign), or nothing if the budget did not suffice: the search is
// exponential in the size of components. Values are of type Int128 or BigInteger.
template <class Value>
std::optional<Table<Value>> member_table(const Component& component, const std::vector<Value>& weights,
                                         const DynamicSet& alive, std::size_t max_members, Budget& budget);

// The same for all sets of a packing; only those with `keep` set take part.
template <class Value>
std::optional<Table<Value>> member_table(const Packing& packing, const std::vector<Value>& weights,
                                         const std::vector<bool>& keep, std::size_t max_members, Budget& budget);

}  // namespace treemean::averaging
