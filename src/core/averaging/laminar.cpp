#include "averaging/laminar.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "averaging/vertex_set.hpp"

namespace treemean::averaging {
namespace {

using WordSet = DynamicSet;
using Indices = std::vector<std::uint32_t>;

class Search {
 public:
  Search(std::span<const Row> rows, std::span<const Int128> weights, std::size_t width, Budget& budget)
      : weights_(weights), capacity_(64 * width), budget_(budget), inside_(rows.size(), 0) {
    for (const Row& row : rows) {
      WordSet words(capacity_);
      for (std::uint32_t k = row.first_word; k <= row.last_word; ++k) {
        for (std::uint64_t w = row.words[k]; w != 0; w &= w - 1) {
          words.insert(std::size_t{64} * k + static_cast<std::size_t>(std::countr_zero(w)));
        }
      }
      sets_.push_back(std::move(words));
    }
  }

  std::optional<LaminarFamily> run() {
    // Smaller sets first: what fits inside a set is known before the set is used.
    Indices order(sets_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return sets_[a].count() < sets_[b].count(); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t set = order[i];
      budget_.work(i);
      inside_[set] = pack(strictly_inside(set, std::span(order).first(i)), 0);
      if (budget_.spent()) return std::nullopt;
    }
    LaminarFamily result;
    result.value = pack(order, 0);
    if (budget_.spent()) return std::nullopt;
    // Walk down the choices again; the memo answers at once.
    std::vector<Indices> todo{order};
    while (!todo.empty()) {
      const Indices family = std::move(todo.back());
      todo.pop_back();
      collect(family, result.chosen, todo, order);
    }
    std::sort(result.chosen.begin(), result.chosen.end());
    return result;
  }

 private:
  static constexpr int max_depth = 2000;

  struct Choice {
    Int128 value;
    std::int64_t set;  // the set that holds the first word, or -1 if that word stays free
  };

  Indices strictly_inside(std::uint32_t set, std::span<const std::uint32_t> smaller) const {
    Indices result;
    for (const std::uint32_t other : smaller) {
      if (sets_[other] != sets_[set] && sets_[other].subset_of(sets_[set])) result.push_back(other);
    }
    return result;
  }

  WordSet union_of(const Indices& family) const {
    WordSet all(capacity_);
    for (const std::uint32_t set : family) all |= sets_[set];
    return all;
  }

  // Splits off the part of a family that hangs together with the first word; true if that is not all.
  bool split(const Indices& family, const WordSet& all, Indices& part, Indices& rest) const {
    WordSet connected(capacity_);
    connected.insert(all.first());
    rest = family;
    for (bool grown = true; grown;) {
      grown = false;
      Indices outside;
      for (const std::uint32_t set : rest) {
        if (!sets_[set].intersects(connected)) {
          outside.push_back(set);
        } else {
          part.push_back(set);
          if (!sets_[set].subset_of(connected)) {
            connected |= sets_[set];
            grown = true;
          }
        }
      }
      rest = std::move(outside);
    }
    return !rest.empty();
  }

  Indices avoiding(const Indices& family, std::uint32_t set) const {
    Indices result;
    for (const std::uint32_t other : family) {
      if (!sets_[other].intersects(sets_[set])) result.push_back(other);
    }
    return result;
  }

  Indices without_word(const Indices& family, std::size_t word) const {
    Indices result;
    for (const std::uint32_t set : family) {
      if (!sets_[set].contains(word)) result.push_back(set);
    }
    return result;
  }

  static std::int64_t member_equal_to(const std::vector<WordSet>& sets, const Indices& family,
                                      const WordSet& all) {
    for (const std::uint32_t set : family) {
      if (sets[set] == all) return set;
    }
    return -1;
  }

  // The value of the best compatible part of a family. A family is always all sets inside some words, except
  // perhaps for the set of all these words itself; so the union of a family that lacks this set, or the union
  // together with "has it", tells families apart. Families that have it need no memo.
  Int128 pack(const Indices& family, int depth) {
    if (family.empty()) return 0;
    if (depth > max_depth || !budget_.take(family.size())) {
      budget_.exhaust();
      return 0;
    }
    const WordSet all = union_of(family);
    if (const std::int64_t whole = member_equal_to(sets_, family, all); whole >= 0) {
      return weights_[static_cast<std::size_t>(whole)] + inside_[static_cast<std::size_t>(whole)];
    }
    if (const auto known = memo_.find(all); known != memo_.end()) return known->second.value;
    Choice best{0, -1};
    Indices part, rest;
    if (split(family, all, part, rest)) {
      best.value = pack(part, depth + 1) + pack(rest, depth + 1);
    } else {
      best.value = pack(without_word(family, all.first()), depth + 1);
      for (const std::uint32_t set : family) {
        if (budget_.spent()) return 0;
        if (!sets_[set].contains(all.first())) continue;
        const Int128 value = weights_[set] + inside_[set] + pack(avoiding(family, set), depth + 1);
        if (value > best.value) best = {value, set};
      }
    }
    if (!budget_.spent()) memo_.emplace(all, best);
    return best.value;
  }

  // Takes what `pack` chose for a family, and puts what is left to be looked at on the list.
  void collect(const Indices& family, Indices& chosen, std::vector<Indices>& todo,
               const Indices& order) const {
    if (family.empty()) return;
    const WordSet all = union_of(family);
    const auto take = [&](std::uint32_t set) {
      chosen.push_back(set);
      todo.push_back(strictly_inside(set, order));
    };
    if (const std::int64_t whole = member_equal_to(sets_, family, all); whole >= 0) {
      take(static_cast<std::uint32_t>(whole));
      return;
    }
    Indices part, rest;
    if (split(family, all, part, rest)) {
      todo.push_back(std::move(part));
      todo.push_back(std::move(rest));
    } else if (const std::int64_t set = memo_.at(all).set; set >= 0) {
      take(static_cast<std::uint32_t>(set));
      todo.push_back(avoiding(family, static_cast<std::uint32_t>(set)));
    } else {
      todo.push_back(without_word(family, all.first()));
    }
  }

  std::span<const Int128> weights_;
  std::size_t capacity_;
  Budget& budget_;
  std::vector<WordSet> sets_;
  std::vector<Int128> inside_;  // the best that fits strictly inside a set
  std::unordered_map<WordSet, Choice, SetHash> memo_;
};

}  // namespace

std::optional<LaminarFamily> heaviest_laminar_family(std::span<const Row> rows,
                                                     std::span<const Int128> weights, std::size_t width,
                                                     Budget& budget) {
  return Search(rows, weights, width, budget).run();
}

}  // namespace treemean::averaging
