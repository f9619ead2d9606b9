#include "averaging/conflicts.hpp"

#include <algorithm>
#include <numeric>

namespace treemean::averaging {

Row make_row(const std::uint64_t* words, std::size_t width) {
  std::uint32_t first = 0, last = static_cast<std::uint32_t>(width - 1);
  while (first < last && words[first] == 0) ++first;
  while (last > first && words[last] == 0) --last;
  return {words, first, last};
}

bool conflict_in_several_words(const Row& a, const Row& b) {
  if (a.last_word < b.first_word || b.last_word < a.first_word) return false;
  // Words outside the common range belong to one of them only.
  bool only_a = a.first_word < b.first_word || a.last_word > b.last_word;
  bool only_b = b.first_word < a.first_word || b.last_word > a.last_word;
  bool common = false;
  const std::uint32_t end = std::min(a.last_word, b.last_word);
  for (std::uint32_t k = std::max(a.first_word, b.first_word); k <= end; ++k) {
    const std::uint64_t x = a.words[k], y = b.words[k];
    common |= (x & y) != 0;
    only_a |= (x & ~y) != 0;
    only_b |= (y & ~x) != 0;
    if (common && only_a && only_b) return true;
  }
  return false;
}

bool precedes(const Row& a, const Row& b) {
  if (a.last_word != b.last_word) return a.last_word < b.last_word;
  const std::uint32_t begin = std::max(a.first_word, b.first_word);
  for (std::uint32_t k = a.last_word + 1; k-- > begin;) {
    if (a.words[k] != b.words[k]) return a.words[k] < b.words[k];
  }
  return a.first_word > b.first_word;
}

void ConflictGraph::build(std::span<const Row> rows) {
  const std::size_t m = rows.size();
  overflowed_ = false;
  isolated_.clear();
  components_.clear();
  edges_.clear();
  degree_.assign(m, 0);
  leader_.resize(m);
  std::iota(leader_.begin(), leader_.end(), 0u);
  const auto find = [this](std::uint32_t v) {
    while (leader_[v] != v) v = leader_[v] = leader_[leader_[v]];
    return v;
  };
  for (std::uint32_t i = 0; i < m; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      if (!conflict(rows[i], rows[j])) continue;
      edges_.push_back(std::uint64_t{i} << 32 | j);
      ++degree_[i];
      ++degree_[j];
      // The smallest number leads, so that components come in ascending order.
      const std::uint32_t a = find(i), b = find(j);
      leader_[std::max(a, b)] = std::min(a, b);
    }
    if (edges_.size() > max_edges) {
      overflowed_ = true;
      return;
    }
  }
  // Lay the members of every component side by side.
  start_.assign(m + 1, 0);
  local_.resize(m);
  std::size_t connected = 0;
  for (std::uint32_t v = 0; v < m; ++v) {
    if (degree_[v] == 0) {
      isolated_.push_back(v);
    } else {
      leader_[v] = find(v);
      local_[v] = start_[leader_[v]]++;
      ++connected;
    }
  }
  members_.resize(connected);
  neighbours_.resize(2 * edges_.size());
  std::size_t vertices = 0, ends = 0, count = 0;
  for (std::uint32_t v = 0; v < m; ++v) {
    if (degree_[v] == 0 || leader_[v] != v) continue;
    const std::uint32_t size = start_[v];
    start_[v] = static_cast<std::uint32_t>(vertices);
    vertices += size;
    ++count;
  }
  for (std::uint32_t v = 0; v < m; ++v) {
    if (degree_[v] != 0) members_[start_[leader_[v]] + local_[v]] = v;
  }
  // Offsets are local to a component, which needs one more than it has members.
  offsets_.resize(connected + count);
  components_.reserve(count);
  std::size_t begin = 0;
  for (std::size_t at = 0, c = 0; at < connected; at = begin, ++c) {
    const std::uint32_t leader = members_[at];
    std::uint32_t total = 0;
    while (begin < connected && leader_[members_[begin]] == leader) {
      offsets_[begin + c] = total;
      total += degree_[members_[begin]];
      ++begin;
    }
    offsets_[begin + c] = total;
    components_.push_back({std::span(members_).subspan(at, begin - at),
                           std::span(offsets_).subspan(at + c, begin - at + 1),
                           std::span(neighbours_).subspan(ends, total)});
    // From here on `degree_` says where the next neighbour goes.
    for (std::size_t i = at; i < begin; ++i) degree_[members_[i]] = static_cast<std::uint32_t>(ends) + offsets_[i + c];
    ends += total;
  }
  for (const std::uint64_t edge : edges_) {
    const auto i = static_cast<std::uint32_t>(edge >> 32), j = static_cast<std::uint32_t>(edge);
    neighbours_[degree_[i]++] = local_[j];
    neighbours_[degree_[j]++] = local_[i];
  }
}

}  // namespace treemean::averaging
