// The heaviest independent set of a bipartite graph, by a minimum cut.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "averaging/budget.hpp"

namespace treemean::averaging {

// Vertices are put on the left or on the right; edges lead from left to right. The cut separates the source
// (before the left vertices, with their weights as capacities) from the sink (behind the right ones): what it
// cuts is the lightest vertex cover, the rest the heaviest independent set. Dinic's algorithm, without
// recursion: O(V² E) at worst.
template <class Weight>
class BipartiteCut {
 public:
  explicit BipartiteCut(std::size_t vertices)
      : arcs_of_(vertices + 2), source_(vertices), sink_(vertices + 1) {}

  void add_left(std::size_t v, Weight weight) { add_arc(source_, v, weight); }
  void add_right(std::size_t v, Weight weight) { add_arc(v, sink_, weight); }
  void add_edge(std::size_t left, std::size_t right) { add_arc(left, right, unlimited()); }

  // Returns false if the budget did not suffice.
  bool run(Budget& budget) {
    while (label_levels()) {
      if (!push_along_levels(budget)) return false;
    }
    return true;
  }
  // After `run`: whether a vertex is in the independent set.
  bool takes_left(std::size_t v) const { return level_[v] >= 0; }
  bool takes_right(std::size_t v) const { return level_[v] < 0; }

 private:
  struct Arc {
    std::size_t to;
    Weight room;
  };

  // More than all weights together; the caller keeps sums of weights below a quarter of the type's range.
  static constexpr Weight unlimited() { return Weight{1} << (8 * sizeof(Weight) - 2); }

  void add_arc(std::size_t from, std::size_t to, Weight room) {
    arcs_of_[from].push_back(arcs_.size());
    arcs_.push_back({to, room});
    arcs_of_[to].push_back(arcs_.size());
    arcs_.push_back({from, 0});
  }

  // Breadth-first distances from the source in the residual graph; whether the sink is reached.
  bool label_levels() {
    level_.assign(arcs_of_.size(), -1);
    level_[source_] = 0;
    queue_.assign(1, source_);
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      for (const std::size_t arc : arcs_of_[queue_[head]]) {
        const std::size_t to = arcs_[arc].to;
        if (arcs_[arc].room > 0 && level_[to] < 0) {
          level_[to] = level_[queue_[head]] + 1;
          queue_.push_back(to);
        }
      }
    }
    return level_[sink_] >= 0;
  }

  bool push_along_levels(Budget& budget) {
    if (!budget.work(arcs_.size())) return false;
    next_.assign(arcs_of_.size(), 0);
    path_.clear();
    std::size_t at = source_;
    while (true) {
      if (at == sink_) {
        Weight amount = unlimited();
        for (const std::size_t arc : path_) amount = arcs_[arc].room < amount ? arcs_[arc].room : amount;
        for (const std::size_t arc : path_) {
          arcs_[arc].room -= amount;
          arcs_[arc ^ 1].room += amount;
        }
        if (!budget.work(path_.size())) return false;
        path_.clear();
        at = source_;
        continue;
      }
      bool advanced = false;
      for (std::size_t& k = next_[at]; k < arcs_of_[at].size(); ++k) {
        const std::size_t arc = arcs_of_[at][k];
        if (arcs_[arc].room > 0 && level_[arcs_[arc].to] == level_[at] + 1) {
          path_.push_back(arc);
          at = arcs_[arc].to;
          advanced = true;
          break;
        }
      }
      if (advanced) continue;
      if (at == source_) return true;
      at = arcs_[path_.back() ^ 1].to;
      path_.pop_back();
      ++next_[at];
    }
  }

  std::vector<Arc> arcs_;
  std::vector<std::vector<std::size_t>> arcs_of_;
  std::size_t source_, sink_;
  std::vector<std::int64_t> level_;
  std::vector<std::size_t> queue_, next_, path_;
};

}  // namespace treemean::averaging
