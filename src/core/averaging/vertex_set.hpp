// Sets of small integers as bit words: of fixed width where that is fast, of any width otherwise.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace treemean::averaging {

template <class Storage>
class BasicSet {
 public:
  // An empty set of numbers below `capacity`, which a fixed width must hold.
  explicit BasicSet(std::size_t capacity) {
    if constexpr (requires(Storage s) { s.resize(capacity); }) {
      words_.resize((capacity + 63) / 64);
    } else {
      words_.fill(0);
    }
  }

  void insert(std::size_t i) { words_[i >> 6] |= std::uint64_t{1} << (i & 63); }
  void erase(std::size_t i) { words_[i >> 6] &= ~(std::uint64_t{1} << (i & 63)); }
  bool contains(std::size_t i) const { return words_[i >> 6] >> (i & 63) & 1; }

  bool empty() const {
    for (const std::uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  std::size_t count() const {
    std::size_t result = 0;
    for (const std::uint64_t word : words_) result += static_cast<std::size_t>(std::popcount(word));
    return result;
  }
  // The smallest member of a set that is not empty.
  std::size_t first() const {
    std::size_t k = 0;
    while (words_[k] == 0) ++k;
    return 64 * k + static_cast<std::size_t>(std::countr_zero(words_[k]));
  }
  bool intersects(const BasicSet& other) const {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      if ((words_[k] & other.words_[k]) != 0) return true;
    }
    return false;
  }
  bool subset_of(const BasicSet& other) const {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      if ((words_[k] & ~other.words_[k]) != 0) return false;
    }
    return true;
  }

  BasicSet& operator&=(const BasicSet& other) {
    for (std::size_t k = 0; k < words_.size(); ++k) words_[k] &= other.words_[k];
    return *this;
  }
  BasicSet& operator|=(const BasicSet& other) {
    for (std::size_t k = 0; k < words_.size(); ++k) words_[k] |= other.words_[k];
    return *this;
  }
  BasicSet& operator-=(const BasicSet& other) {
    for (std::size_t k = 0; k < words_.size(); ++k) words_[k] &= ~other.words_[k];
    return *this;
  }
  friend BasicSet operator&(BasicSet a, const BasicSet& b) { return a &= b; }
  friend BasicSet operator-(BasicSet a, const BasicSet& b) { return a -= b; }
  bool operator==(const BasicSet&) const = default;

  // Calls f for every member, in ascending order. Members may be erased meanwhile; f still sees those of
  // the current word.
  template <class F>
  void for_each(const F& f) const {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      for (std::uint64_t word = words_[k]; word != 0; word &= word - 1) {
        f(64 * k + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

  // Of two different sets of equally many numbers: whether this one has the smaller number where they first
  // differ.
  bool precedes(const BasicSet& other) const {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      if (const std::uint64_t different = words_[k] ^ other.words_[k]; different != 0) {
        return (words_[k] & different & (~different + 1)) != 0;
      }
    }
    return false;
  }

  std::size_t hash() const {
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    for (const std::uint64_t word : words_) {
      h = (h ^ word) * 0xbf58476d1ce4e5b9u;
      h ^= h >> 29;
    }
    return static_cast<std::size_t>(h);
  }

 private:
  Storage words_;
};

template <std::size_t Words>
using FixedSet = BasicSet<std::array<std::uint64_t, Words>>;
using DynamicSet = BasicSet<std::vector<std::uint64_t>>;

// The vertices of a set, none of them `capacity` or more, that are joined with its first one by edges among
// them; `adjacent(v)` are the neighbours of v.
template <class Set, class Adjacent>
Set component_of(const Set& open, std::size_t capacity, const Adjacent& adjacent) {
  Set component(capacity), frontier(capacity);
  frontier.insert(open.first());
  while (!frontier.empty()) {
    component |= frontier;
    Set reached(capacity);
    frontier.for_each([&](std::size_t v) { reached |= adjacent(v); });
    reached &= open;
    reached -= component;
    frontier = std::move(reached);
  }
  return component;
}

struct SetHash {
  template <class Storage>
  std::size_t operator()(const BasicSet<Storage>& set) const {
    return set.hash();
  }
};

}  // namespace treemean::averaging
