// Which sets of words cannot live in one tree, and the connected components of that relation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "averaging/budget.hpp"

namespace treemean::averaging {

// A set of words: bit words, and the first and last bit word that are not zero.
struct Row {
  const std::uint64_t* words;
  std::uint32_t first_word;
  std::uint32_t last_word;
};

Row make_row(const std::uint64_t* words, std::size_t width);

// Whether a set holds all of so many words, or only a single one.
bool has_all(const Row& row, std::int64_t words);
bool has_one(const Row& row);

bool conflict_in_several_words(const Row& a, const Row& b);

// Whether two sets overlap without one holding the other.
inline bool conflict(const Row& a, const Row& b) {
  if (a.last_word == 0 && b.last_word == 0) {
    const std::uint64_t x = *a.words, y = *b.words;
    return (x & y) != 0 && (x & ~y) != 0 && (y & ~x) != 0;
  }
  return conflict_in_several_words(a, b);
}

// The canonical order of sets: as binary numbers whose bit p is word p, that is by the last word in which
// they differ.
bool precedes_in_several_words(const Row& a, const Row& b);
inline bool precedes(const Row& a, const Row& b) {
  return a.last_word == 0 && b.last_word == 0 ? *a.words < *b.words : precedes_in_several_words(a, b);
}

// A connected component of the conflict graph; its vertices are numbered from 0 in ascending order.
struct Component {
  std::span<const std::uint32_t> members;     // local to global number
  std::span<const std::uint32_t> offsets;     // members.size() + 1 entries
  std::span<const std::uint32_t> neighbours;  // local numbers

  std::size_t size() const { return members.size(); }
  std::span<const std::uint32_t> adjacent(std::size_t v) const {
    return neighbours.subspan(offsets[v], offsets[v + 1] - offsets[v]);
  }
};

// The conflict graph of some sets, by components of two or more; the others conflict with nothing.
class ConflictGraph {
 public:
  // More conflicts than this are not stored (1 GB would be needed for ten times as many).
  static constexpr std::size_t max_edges = std::size_t{1} << 24;

  // O(m² width) at worst.
  void build(std::span<const Row> rows, Budget& budget);

  // Too many conflicts to store, or no time to find them: there are no components then.
  bool unfinished() const { return unfinished_; }
  std::span<const std::uint32_t> isolated() const { return isolated_; }
  std::span<const Component> components() const { return components_; }

 private:
  void add_edge(std::uint32_t i, std::uint32_t j);
  bool compare_all(std::span<const Row> rows, Budget& budget);
  bool compare_by_words(std::span<const Row> rows, Budget& budget);
  std::uint32_t leader_of(std::uint32_t v);
  void lay_out();

  std::vector<std::uint32_t> isolated_, members_, offsets_, neighbours_;
  std::vector<Component> components_;
  std::vector<std::uint64_t> edges_, words_;
  std::vector<std::uint32_t> leader_, local_, degree_, start_;
  bool unfinished_ = false;
};

}  // namespace treemean::averaging
