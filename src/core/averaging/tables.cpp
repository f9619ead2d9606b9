#include "averaging/tables.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "averaging/big_integer.hpp"

namespace treemean::averaging {
namespace {

template <class Value>
void offer(Table<Value>& table, std::size_t members, TableEntry<Value> entry) {
  // Tables have no holes: a part of an independent set is independent.
  if (members == table.size()) {
    table.push_back(std::move(entry));
    return;
  }
  TableEntry<Value>& known = table[members];
  if (entry.value > known.value) {
    known = std::move(entry);
  } else if (entry.value == known.value) {
    known.count = std::min(known.count + entry.count, too_many);
    if (entry.first.precedes(known.first)) known.first = std::move(entry.first);
  }
}

Count product(Count a, Count b) { return b != 0 && a > too_many / b ? too_many : std::min(a * b, too_many); }

// Entries of two graphs without edges between them, up to `max_members`.
template <class Value>
Table<Value> combine(const Table<Value>& a, const Table<Value>& b, std::size_t max_members) {
  Table<Value> result;
  for (std::size_t total = 0; total <= max_members && total + 2 <= a.size() + b.size(); ++total) {
    const std::size_t begin = total < b.size() ? 0 : total - b.size() + 1;
    for (std::size_t i = begin; i <= total && i < a.size(); ++i) {
      const TableEntry<Value> &x = a[i], &y = b[total - i];
      DynamicSet both = x.first;
      both |= y.first;
      offer(result, total, {x.value + y.value, product(x.count, y.count), std::move(both)});
    }
  }
  return result;
}

// Works on the vertices of one component under their global numbers.
template <class Value>
class TableSearch {
 public:
  TableSearch(const Component& component, const std::vector<Value>& weights, std::size_t max_members, Budget& budget)
      : weights_(weights), capacity_(weights.size()), max_members_(max_members), budget_(budget) {
    for (std::size_t v = 0; v < component.size(); ++v) {
      DynamicSet around(capacity_);
      for (const std::uint32_t u : component.adjacent(v)) around.insert(component.members[u]);
      adjacent_.emplace(component.members[v], std::move(around));
    }
  }

  // The result is valid if the budget is not spent afterwards.
  const Table<Value>& table(const DynamicSet& open, int depth) {
    if (const auto known = memo_.find(open); known != memo_.end()) return known->second;
    Table<Value> result = {{0, 1, DynamicSet(capacity_)}};
    if (!open.empty()) {
      if (depth > max_depth || !budget_.take(capacity_)) {
        budget_.exhaust();
      } else if (const DynamicSet part = component_of(open); part != open) {
        // The first table must be copied: a deeper call may move what the memo holds.
        const Table<Value> first = table(part, depth + 1);
        const Table<Value>& second = table(open - part, depth + 1);
        budget_.work(first.size() * second.size());
        result = combine(first, second, max_members_);
      } else {
        branch(open, depth, result);
      }
    }
    return memo_.emplace(open, std::move(result)).first->second;
  }

 private:
  static constexpr int max_depth = 2000;

  DynamicSet component_of(const DynamicSet& open) const {
    DynamicSet component(capacity_), frontier(capacity_);
    frontier.insert(open.first());
    while (!frontier.empty()) {
      component |= frontier;
      DynamicSet reached(capacity_);
      frontier.for_each([&](std::size_t v) { reached |= adjacent_.at(v); });
      reached &= open;
      reached -= component;
      frontier = std::move(reached);
    }
    return component;
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
    for (std::size_t j = 0; j < with.size() && j < max_members_; ++j) {
      TableEntry<Value> entry = with[j];
      entry.value += weights_[pivot];
      entry.first.insert(pivot);
      offer(result, j + 1, std::move(entry));
    }
  }

  const std::vector<Value>& weights_;
  std::size_t capacity_, max_members_;
  Budget& budget_;
  std::unordered_map<std::size_t, DynamicSet> adjacent_;
  std::unordered_map<DynamicSet, Table<Value>, SetHash> memo_;
};

}  // namespace

template <class Value>
std::optional<Table<Value>> member_table(const Component& component, const std::vector<Value>& weights,
                                         const DynamicSet& alive, std::size_t max_members, Budget& budget) {
  TableSearch<Value> search(component, weights, max_members, budget);
  Table<Value> result = search.table(alive, 0);
  if (budget.spent()) return std::nullopt;
  return result;
}

template <class Value>
std::optional<Table<Value>> member_table(const Packing& packing, const std::vector<Value>& weights,
                                         const std::vector<bool>& keep, std::size_t max_members, Budget& budget) {
  const std::size_t capacity = packing.rows().size();
  if (packing.graph().unfinished()) return std::nullopt;
  Table<Value> result = {{0, 1, DynamicSet(capacity)}};
  for (const std::uint32_t v : packing.graph().isolated()) {
    if (!keep[v]) continue;
    DynamicSet alone(capacity);
    alone.insert(v);
    const Table<Value> choice = {{0, 1, DynamicSet(capacity)}, {weights[v], 1, std::move(alone)}};
    result = combine(result, choice, max_members);
    if (!budget.take(capacity)) return std::nullopt;
  }
  for (const Component& component : packing.graph().components()) {
    DynamicSet alive(capacity);
    for (const std::uint32_t v : component.members) {
      if (keep[v]) alive.insert(v);
    }
    const auto part = member_table(component, weights, alive, max_members, budget);
    if (!part) return std::nullopt;
    budget.work(result.size() * part->size());
    result = combine(result, *part, max_members);
  }
  return result;
}

#define TREEMEAN_TABLES_OF(Value)                                                                                   \
  template std::optional<Table<Value>> member_table(const Component&, const std::vector<Value>&, const DynamicSet&, \
                                                    std::size_t, Budget&);                                          \
  template std::optional<Table<Value>> member_table(const Packing&, const std::vector<Value>&,                      \
                                                    const std::vector<bool>&, std::size_t, Budget&);
TREEMEAN_TABLES_OF(Int128)
TREEMEAN_TABLES_OF(BigInteger)
#undef TREEMEAN_TABLES_OF

}  // namespace treemean::averaging
