// For every cost, mostly a number of members: the heaviest independent sets of a graph, and how many there
// are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/integers.hpp"
#include "averaging/packing.hpp"
#include "averaging/vertex_set.hpp"

namespace treemean::averaging {

using Count = Uint128;

template <class Value>
struct TableEntry {
  Value value = 0;  // of the heaviest independent sets with this cost
  Count count = 0;  // how many there are; `too_many` or more cannot be told apart; 0: none
  DynamicSet first =
      DynamicSet(0);  // that with the highest preference, of equal ones the first in canonical order
  std::int64_t preference = 0;  // of this one
};

// Two of these can be added.
constexpr Count too_many = Count{1} << 126;

// Entry j is about sets that cost j; it ends with the last j for which there is an independent set.
template <class Value>
using Table = std::vector<TableEntry<Value>>;

// The table of one component of a packing, by the weights of candidates (of any sign), of which only those
// with `keep` set take part; nothing if the budget did not suffice: the search is exponential in the size of
// components. Values are of type Int128 or BigInteger.
template <class Value>
std::optional<Table<Value>> member_table(const Packing& packing, const Component& component,
                                         const std::vector<Value>& weights, const std::vector<bool>& keep,
                                         std::size_t max_cost, Budget& budget);

// The same for all of a packing.
template <class Value>
std::optional<Table<Value>> member_table(const Packing& packing, const std::vector<Value>& weights,
                                         const std::vector<bool>& keep, std::size_t max_cost, Budget& budget);

}  // namespace treemean::averaging
