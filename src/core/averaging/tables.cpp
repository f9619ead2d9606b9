#include "averaging/tables.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "averaging/big_integer.hpp"

namespace treemean::averaging {
namespace {

template <class Value>
void offer(Table<Value>& table, std::size_t cost, TableEntry<Value> entry) {
  if (cost >= table.size()) table.resize(cost + 1);
  TableEntry<Value>& known = table[cost];
  if (known.count == 0 || entry.value > known.value) {
    known = std::move(entry);
  } else if (entry.value == known.value) {
    const Count count = std::min(known.count + entry.count, too_many);
    const bool first = entry.preference != known.preference ? entry.preference > known.preference
                                                            : entry.first.precedes(known.first);
    if (first) known = std::move(entry);
    known.count = count;
  }
}

Count product(Count a, Count b) { return b != 0 && a > too_many / b ? too_many : std::min(a * b, too_many); }

// Entries of two graphs without edges between them, up to `max_cost`.
template <class Value>
Table<Value> combine(const Table<Value>& a, const Table<Value>& b, std::size_t max_cost) {
  Table<Value> result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size() && i + j <= max_cost; ++j) {
      const TableEntry<Value>&x = a[i], &y = b[j];
      if (x.count == 0 || y.count == 0) continue;
      DynamicSet both = x.first;
      both |= y.first;
      offer(result, i + j,
            {x.value + y.value, product(x.count, y.count), std::move(both), x.preference + y.preference});
    }
  }
  return result;
}

// What tables are made of.
template <class Value>
struct Weighing {
  const Packing& packing;
  const std::vector<Value>& weights;  // of candidates
  const std::vector<bool>& keep;      // which of them take part
  std::size_t max_cost;
};

// Adds what comes of taking one candidate of a choice together with what is in another table.
template <class Value>
void offer_choice(const Weighing<Value>& weighing, Choice choice, const Table<Value>& others,
                  Table<Value>& table) {
  for (std::uint32_t c = choice.begin; c < choice.end; ++c) {
    if (!weighing.keep[c]) continue;
    const TieRule rule = weighing.packing.tie_rule(c);
    const auto cost = static_cast<std::size_t>(rule.cost);
    for (std::size_t j = 0; j < others.size() && j + cost <= weighing.max_cost; ++j) {
      if (others[j].count == 0) continue;
      TableEntry<Value> entry = others[j];
      entry.value += weighing.weights[c];
      entry.first.insert(c);
      entry.preference += rule.preference;
      offer(table, j + cost, std::move(entry));
    }
  }
}

// Combines a table with a choice that is in conflict with nothing.
template <class Value>
void take_alone(const Weighing<Value>& weighing, Choice choice, bool mandatory, Table<Value>& table) {
  const Table<Value> before = mandatory ? std::exchange(table, {}) : table;
  offer_choice(weighing, choice, before, table);
}

// Works on the vertices of one component under their global numbers.
template <class Value>
class TableSearch {
 public:
  TableSearch(const Weighing<Value>& weighing, const Component& component, Budget& budget)
      : weighing_(weighing), budget_(budget) {
    for (const std::uint32_t v : component.members) capacity_ = std::max<std::size_t>(capacity_, v + 1);
    for (std::size_t v = 0; v < component.size(); ++v) {
      DynamicSet around(capacity_);
      for (const std::uint32_t u : component.adjacent(v)) around.insert(component.members[u]);
      adjacent_.emplace(component.members[v], std::move(around));
    }
  }

  // The vertices of which something can be taken.
  DynamicSet all(const Component& component) const {
    DynamicSet result(capacity_);
    for (const std::uint32_t v : component.members) {
      const Choice choice = weighing_.packing.choice(v);
      for (std::uint32_t c = choice.begin; c < choice.end; ++c) {
        if (weighing_.keep[c]) result.insert(v);
      }
    }
    return result;
  }

  // The result is valid if the budget is not spent afterwards.
  const Table<Value>& table(const DynamicSet& open, int depth) {
    if (const auto known = memo_.find(open); known != memo_.end()) return known->second;
    Table<Value> result = {{0, 1, DynamicSet(weighing_.weights.size()), 0}};
    if (!open.empty()) {
      if (depth > max_depth || !budget_.take(capacity_)) {
        budget_.exhaust();
      } else if (const DynamicSet part = component_of(open); part != open) {
        // The first table must be copied: a deeper call may move what the memo holds.
        const Table<Value> first = table(part, depth + 1);
        const Table<Value>& second = table(open - part, depth + 1);
        budget_.work(first.size() * second.size());
        result = combine(first, second, weighing_.max_cost);
      } else {
        branch(open, depth, result);
      }
    }
    return memo_.emplace(open, std::move(result)).first->second;
  }

 private:
  static constexpr int max_depth = 2000;

  DynamicSet component_of(const DynamicSet& open) const {
    const auto around = [&](std::size_t v) -> const DynamicSet& { return adjacent_.at(v); };
    return averaging::component_of(open, capacity_, around);
  }

  void branch(const DynamicSet& open, int depth, Table<Value>& result) {
    std::size_t pivot = open.first(), degree = 0;
    open.for_each([&](std::size_t v) {
      if (const std::size_t d = (adjacent_.at(v) & open).count(); d > degree) {
        degree = d;
        pivot = v;
      }
    });
    DynamicSet without = open;
    without.erase(pivot);
    result = table(without, depth + 1);
    const Table<Value>& with = table(without - adjacent_.at(pivot), depth + 1);
    offer_choice(weighing_, weighing_.packing.choice(pivot), with, result);
  }

  const Weighing<Value>& weighing_;
  std::size_t capacity_ = 0;
  Budget& budget_;
  std::unordered_map<std::size_t, DynamicSet> adjacent_;
  std::unordered_map<DynamicSet, Table<Value>, SetHash> memo_;
};

}  // namespace

template <class Value>
std::optional<Table<Value>> member_table(const Packing& packing, const Component& component,
                                         const std::vector<Value>& weights, const std::vector<bool>& keep,
                                         std::size_t max_cost, Budget& budget) {
  const Weighing<Value> weighing{packing, weights, keep, max_cost};
  TableSearch<Value> search(weighing, component, budget);
  Table<Value> result = search.table(search.all(component), 0);
  if (budget.spent()) return std::nullopt;
  return result;
}

template <class Value>
std::optional<Table<Value>> member_table(const Packing& packing, const std::vector<Value>& weights,
                                         const std::vector<bool>& keep, std::size_t max_cost,
                                         Budget& budget) {
  const std::size_t capacity = packing.size();
  if (packing.graph().unfinished()) return std::nullopt;
  const Weighing<Value> weighing{packing, weights, keep, max_cost};
  Table<Value> result = {{0, 1, DynamicSet(capacity), 0}};
  for (const std::uint32_t v : packing.graph().isolated()) {
    take_alone(weighing, packing.choice(v), false, result);
    if (!budget.take(capacity)) return std::nullopt;
  }
  for (std::size_t i = 0; i < packing.free().size(); ++i) {
    take_alone(weighing, packing.free()[i], packing.has_mandatory() && i + 1 == packing.free().size(),
               result);
    if (!budget.take(capacity)) return std::nullopt;
  }
  for (const Component& component : packing.graph().components()) {
    const auto part = member_table(packing, component, weights, keep, max_cost, budget);
    if (!part) return std::nullopt;
    budget.work(result.size() * part->size());
    result = combine(result, *part, max_cost);
  }
  return result;
}

template std::optional<Table<Int128>> member_table(const Packing&, const Component&,
                                                   const std::vector<Int128>&, const std::vector<bool>&,
                                                   std::size_t, Budget&);
template std::optional<Table<Int128>> member_table(const Packing&, const std::vector<Int128>&,
                                                   const std::vector<bool>&, std::size_t, Budget&);
template std::optional<Table<BigInteger>> member_table(const Packing&, const Component&,
                                                       const std::vector<BigInteger>&,
                                                       const std::vector<bool>&, std::size_t, Budget&);
template std::optional<Table<BigInteger>> member_table(const Packing&, const std::vector<BigInteger>&,
                                                       const std::vector<bool>&, std::size_t, Budget&);

}  // namespace treemean::averaging
