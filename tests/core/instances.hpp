// Graphs and families of sets, and brute force over all subsets of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/conflicts.hpp"
#include "averaging/integers.hpp"
#include "check.hpp"

namespace treemean::testing {

// A budget that does not run out, or does after some steps; nobody raises its sign.
class Steps {
 public:
  explicit Steps(std::int64_t limit = 1'000'000'000) : sign_([] {}), budget_(limit, 0, sign_) {}
  // NOLINTNEXTLINE(*-explicit-constructor): it stands for its budget
  operator averaging::Budget&() { return budget_; }
  averaging::Budget& budget() { return budget_; }

 private:
  averaging::StopSign sign_;
  averaging::Budget budget_;
};

// A graph as a component of a conflict graph, which has no columns of its own.
class Graph {
 public:
  Graph(std::size_t size, const std::function<bool(std::size_t, std::size_t)>& adjacent) : offsets_{0} {
    for (std::uint32_t v = 0; v < size; ++v) {
      members_.push_back(v);
      for (std::uint32_t u = 0; u < size; ++u) {
        if (u != v && adjacent(u < v ? u : v, u < v ? v : u)) neighbours_.push_back(u);
      }
      offsets_.push_back(static_cast<std::uint32_t>(neighbours_.size()));
    }
  }
  static Graph random(std::size_t size, std::uint64_t percent, Random& random) {
    std::vector<bool> edges(size * size);
    for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = random.below(100) < percent;
    return {size, [&](std::size_t u, std::size_t v) { return edges[u * size + v]; }};
  }

  averaging::Component component() const { return {members_, offsets_, neighbours_}; }
  std::size_t size() const { return members_.size(); }
  bool independent(std::uint64_t set) const {
    for (std::size_t v = 0; v < size(); ++v) {
      if ((set >> v & 1) == 0) continue;
      for (const std::uint32_t u : component().adjacent(v)) {
        if ((set >> u & 1) != 0) return false;
      }
    }
    return true;
  }

 private:
  std::vector<std::uint32_t> members_, offsets_, neighbours_;
};

template <class Weight>
Weight weight_of(std::uint64_t set, const std::vector<Weight>& weights) {
  Weight sum = 0;
  for (std::size_t v = 0; v < weights.size(); ++v) sum += (set >> v & 1) != 0 ? weights[v] : Weight{0};
  return sum;
}

// The heaviest subset that is allowed; of equally heavy ones that with the fewest members, and of these the
// one with the smallest number in which they differ. O(2^size).
template <class Weight, class Allowed>
std::pair<Weight, std::uint64_t> heaviest(const std::vector<Weight>& weights, const Allowed& allowed) {
  const auto reversed = [&](std::uint64_t set) {
    std::uint64_t result = 0;
    for (std::size_t v = 0; v < weights.size(); ++v) result = result << 1 | (set >> v & 1);
    return result;
  };
  std::pair<Weight, std::uint64_t> best{0, 0};
  for (std::uint64_t set = 1; set < std::uint64_t{1} << weights.size(); ++set) {
    if (!allowed(set)) continue;
    const Weight weight = weight_of(set, weights);
    const int fewer = std::popcount(best.second) - std::popcount(set);
    const bool first = fewer > 0 || (fewer == 0 && reversed(set) > reversed(best.second));
    if (weight > best.first || (weight == best.first && first)) best = {weight, set};
  }
  return best;
}

// Different sets of two or more of some words, in canonical order; their bits lie here.
class Family {
 public:
  Family(std::size_t count, std::size_t words, Random& random) : width_((words + 63) / 64) {
    while (sets_.size() < count) {
      std::vector<std::uint64_t> set(width_);
      // Few words of a window, so that not everything conflicts.
      const std::size_t begin = random.below(words - 1), length = 2 + random.below(words - begin - 1);
      for (std::size_t w = begin; w < begin + length && w < words; ++w) {
        if (random.below(5) != 0) set[w / 64] |= std::uint64_t{1} << w % 64;
      }
      std::size_t size = 0;
      for (const std::uint64_t word : set) size += static_cast<std::size_t>(std::popcount(word));
      if (size >= 2 && size < words) add(set);
    }
    for (const auto& set : sets_) rows_.push_back(averaging::make_row(set.data(), width_));
  }

  const std::vector<averaging::Row>& rows() const { return rows_; }
  std::size_t width() const { return width_; }

  // By the definition, word by word.
  bool conflict(std::size_t a, std::size_t b) const {
    bool both = false, only_a = false, only_b = false;
    for (std::size_t w = 0; w < 64 * width_; ++w) {
      const bool in_a = has(a, w), in_b = has(b, w);
      both |= in_a && in_b;
      only_a |= in_a && !in_b;
      only_b |= in_b && !in_a;
    }
    return both && only_a && only_b;
  }
  bool compatible(std::uint64_t subset) const {
    for (std::size_t a = 0; a < sets_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if ((subset >> a & 1) != 0 && (subset >> b & 1) != 0 && conflict(a, b)) return false;
      }
    }
    return true;
  }

 private:
  bool has(std::size_t set, std::size_t word) const { return (sets_[set][word / 64] >> word % 64 & 1) != 0; }

  // Canonical order is that of binary numbers, the last word first.
  void add(const std::vector<std::uint64_t>& set) {
    std::size_t at = 0;
    while (at < sets_.size() && precedes(sets_[at], set)) ++at;
    if (at < sets_.size() && sets_[at] == set) return;
    sets_.insert(sets_.begin() + static_cast<std::ptrdiff_t>(at), set);
  }
  static bool precedes(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
    for (std::size_t k = a.size(); k-- > 0;) {
      if (a[k] != b[k]) return a[k] < b[k];
    }
    return false;
  }

  std::size_t width_;
  std::vector<std::vector<std::uint64_t>> sets_;
  std::vector<averaging::Row> rows_;
};

template <class Indices>
std::uint64_t bits_of(const Indices& members) {
  std::uint64_t set = 0;
  for (const auto member : members) set |= std::uint64_t{1} << member;
  return set;
}

}  // namespace treemean::testing
