// The canonical one of equally good sets: the lowest cost (mostly the fewest members), then the highest sum
// of preferences, and then the first in canonical order.
//
// Vertices are numbered in canonical order, so that of two sets the first one is that which has the smallest
// vertex in which they differ. All rules can be written into the weights, as long as these have room; a
// search for the heaviest set then needs no care about ties. The callers see to it that there is room for all
// but the last rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "averaging/branch_and_bound.hpp"
#include "averaging/integers.hpp"

namespace treemean::averaging {

// What decides between equally heavy sets, of one vertex or of several together.
struct TieRule {
  std::int64_t cost = 1;
  std::int64_t preference = 0;
};

// How weights of `count` vertices carry the rules. Sums over all of them are given: of weights, of costs, and
// of preferences whatever their sign.
class TieWeights {
 public:
  TieWeights(std::size_t count, Int128 total, Int128 costs, Int128 preferences)
      : costs_(costs), preferences_(preferences) {
    const int bits =
        bit_length(total) + bit_length(costs + 1) + (preferences > 0 ? bit_length(2 * preferences + 1) : 0);
    complete_ = count <= 64 && bits + static_cast<int>(count) + 1 <= max_bits_wide;
    shift_ = complete_ ? static_cast<int>(count) : 0;
    narrow_ = bits + shift_ + 1 <= max_bits_narrow;
  }

  // Whether the heaviest set is the canonical one; otherwise it is one of those that only the last rule
  // decides between.
  bool complete() const { return complete_; }
  // Whether 64 bits suffice.
  bool narrow() const { return narrow_; }

  Int128 encode(Int128 weight, const TieRule& rule, std::size_t rank) const {
    Int128 few = weight * (costs_ + 1) - rule.cost;
    if (preferences_ > 0) few = few * (2 * preferences_ + 1) + rule.preference;
    return complete_ ? (few << shift_) + (Int128{1} << (shift_ - 1 - static_cast<int>(rank))) : few;
  }
  // The largest total of plain weights that a bound on the total of encoded ones allows.
  Int128 decode_bound(Int128 bound) const {
    Int128 few = bound >> shift_;
    if (preferences_ > 0) few = (few + preferences_) / (2 * preferences_ + 1);
    return (few + costs_) / (costs_ + 1);
  }

 private:
  static constexpr int max_bits_narrow = 60;
  static constexpr int max_bits_wide = 124;
  Int128 costs_, preferences_;
  int shift_ = 0;
  bool complete_ = false;
  bool narrow_ = false;
};

// Turns one heaviest subset of `open`, of weight `value`, into the first of them. Every vertex in turn is
// taken if some heaviest set that agrees with the decisions so far has it. When the budget runs out, the
// decisions that are left are those of the last set that was found.
template <class Set, class Weight>
Set first_of_heaviest(BranchAndBound<Set, Weight>& search, const Set& open, Weight value, Set known,
                      const Budget& budget) {
  Set decided = search.none(), rest = open;
  open.for_each([&](std::size_t v) {
    if (!rest.contains(v) || budget.spent()) return;
    Set within = rest - search.adjacent(v);
    within.erase(v);
    if (!known.contains(v)) {
      const Weight missing = value - search.weight(v);
      auto answer = search.search(within, missing - 1);
      if (!answer.found) {
        if (!budget.spent()) rest.erase(v);
        return;
      }
      known = std::move(answer.chosen);
    }
    known.erase(v);
    decided.insert(v);
    rest = std::move(within);
    value -= search.weight(v);
  });
  decided |= known;
  return decided;
}

}  // namespace treemean::averaging
