#include "averaging/conflicts.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace treemean::averaging {
namespace {

// With fewer sets, comparing all pairs is quicker than looking up words.
constexpr std::size_t min_size_for_index = 512;

}  // namespace

Row make_row(const std::uint64_t* words, std::size_t width) {
  std::uint32_t first = 0, last = static_cast<std::uint32_t>(width - 1);
  while (first < last && words[first] == 0) ++first;
  while (last > first && words[last] == 0) --last;
  return {words, first, last};
}

bool has_all(const Row& row, std::int64_t words) {
  std::int64_t size = 0;
  for (std::uint32_t k = row.first_word; k <= row.last_word; ++k) size += std::popcount(row.words[k]);
  return size == words;
}

bool has_one(const Row& row) {
  const std::uint64_t word = row.words[row.first_word];
  return row.first_word == row.last_word && (word & (word - 1)) == 0;
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

bool precedes_in_several_words(const Row& a, const Row& b) {
  if (a.last_word != b.last_word) return a.last_word < b.last_word;
  const std::uint32_t begin = std::max(a.first_word, b.first_word);
  for (std::uint32_t k = a.last_word + 1; k-- > begin;) {
    if (a.words[k] != b.words[k]) return a.words[k] < b.words[k];
  }
  return a.first_word > b.first_word;
}

std::uint32_t ConflictGraph::leader_of(std::uint32_t v) {
  while (leader_[v] != v) v = leader_[v] = leader_[leader_[v]];
  return v;
}

void ConflictGraph::add_edge(std::uint32_t i, std::uint32_t j) {
  edges_.push_back(std::uint64_t{i} << 32 | j);
  ++degree_[i];
  ++degree_[j];
  // The smallest number leads, so that components come in ascending order.
  const std::uint32_t a = leader_of(i), b = leader_of(j);
  leader_[std::max(a, b)] = std::min(a, b);
}

bool ConflictGraph::compare_all(std::span<const Row> rows, Budget& budget) {
  const bool short_sentence =
      std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.last_word == 0; });
  if (short_sentence) {
    words_.clear();
    for (const Row& row : rows) words_.push_back(*row.words);
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      const std::uint64_t x = words_[i];
      for (std::uint32_t j = 0; j < i; ++j) {
        const std::uint64_t common = x & words_[j];
        if (common != 0 && common != x && common != words_[j]) add_edge(i, j);
      }
      if (edges_.size() > max_edges || !budget.work(i / 4)) return false;
    }
    return true;
  }
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      if (conflict(rows[i], rows[j])) add_edge(i, j);
    }
    if (edges_.size() > max_edges || !budget.work(i)) return false;
  }
  return true;
}

// Most of many sets are small. What a small set conflicts with holds some, but not all, of its words; which
// sets hold a word is looked up. Only the few large sets are compared pair by pair.
bool ConflictGraph::compare_by_words(std::span<const Row> rows, Budget& budget) {
  const auto m = static_cast<std::uint32_t>(rows.size());
  // By word: the sets that are not smaller than the current one.
  std::vector<std::vector<std::uint32_t>> holders;
  std::vector<std::uint32_t> size(m, 0), order(m), common(m, 0), met, words;
  const auto words_of = [&](const Row& row) {
    words.clear();
    for (std::uint32_t k = row.first_word; k <= row.last_word; ++k) {
      for (std::uint64_t w = row.words[k]; w != 0; w &= w - 1) {
        words.push_back(64 * k + static_cast<std::uint32_t>(std::countr_zero(w)));
      }
    }
  };
  std::size_t entries = 0;
  for (std::uint32_t i = 0; i < m; ++i) {
    for (std::uint32_t k = rows[i].first_word; k <= rows[i].last_word; ++k) {
      size[i] += static_cast<std::uint32_t>(std::popcount(rows[i].words[k]));
    }
    entries += size[i];
  }
  if (entries > max_edges) return compare_all(rows, budget);
  std::iota(order.begin(), order.end(), 0u);
  // The largest first, so that holders of a word are entered as they become relevant.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return size[a] > size[b]; });
  for (std::uint32_t place = 0; place < m; ++place) {
    const std::uint32_t i = order[place];
    words_of(rows[i]);
    if (holders.size() <= words.back()) holders.resize(words.back() + 1);
    std::size_t lookups = 0;
    for (const std::uint32_t word : words) lookups += holders[word].size();
    if (lookups < 4 * std::size_t{place}) {
      met.clear();
      for (const std::uint32_t word : words) {
        for (const std::uint32_t j : holders[word]) {
          if (common[j]++ == 0) met.push_back(j);
        }
      }
      for (const std::uint32_t j : met) {
        if (common[j] < size[i]) add_edge(std::max(i, j), std::min(i, j));
        common[j] = 0;
      }
    } else {
      lookups = 4 * std::size_t{place};
      for (const std::uint32_t j : std::span(order).first(place)) {
        if (conflict(rows[i], rows[j])) add_edge(std::max(i, j), std::min(i, j));
      }
    }
    for (const std::uint32_t word : words) holders[word].push_back(i);
    if (edges_.size() > max_edges || !budget.work(lookups + words.size())) return false;
  }
  return true;
}

void ConflictGraph::build(std::span<const Row> rows, Budget& budget) {
  const std::size_t m = rows.size();
  isolated_.clear();
  components_.clear();
  edges_.clear();
  degree_.assign(m, 0);
  leader_.resize(m);
  std::iota(leader_.begin(), leader_.end(), 0u);
  unfinished_ = !(m < min_size_for_index ? compare_all(rows, budget) : compare_by_words(rows, budget));
  if (!unfinished_) lay_out();
}

// Lays the members of every component side by side, and then their neighbours.
void ConflictGraph::lay_out() {
  const std::size_t m = degree_.size();
  start_.assign(m + 1, 0);
  local_.resize(m);
  std::size_t connected = 0;
  for (std::uint32_t v = 0; v < m; ++v) {
    if (degree_[v] == 0) {
      isolated_.push_back(v);
    } else {
      leader_[v] = leader_of(v);
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
    for (std::size_t i = at; i < begin; ++i)
      degree_[members_[i]] = static_cast<std::uint32_t>(ends) + offsets_[i + c];
    ends += total;
  }
  for (const std::uint64_t edge : edges_) {
    const auto i = static_cast<std::uint32_t>(edge >> 32), j = static_cast<std::uint32_t>(edge);
    neighbours_[degree_[i]++] = local_[j];
    neighbours_[degree_[j]++] = local_[i];
  }
}

}  // namespace treemean::averaging
