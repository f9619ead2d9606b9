// Columns of a treebank as writers see them: texts by their codes, and which constituent is above which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "validity.hpp"

namespace treemean {

// A coded column as it comes from outside; `at` throws std::out_of_range on codes without a text.
struct CodedView {
  std::span<const std::int32_t> codes;
  std::span<const std::uint8_t> data;
  std::span<const std::int64_t> offsets;

  std::string_view at(std::size_t index) const;
};

// A word or a constituent below another constituent.
struct Child {
  bool is_word;
  int index;
};

// How one tree hangs together.
class Shape {
 public:
  // Looks at the m sets of a sentence of n words, which must be a tree. O(sum of their sizes).
  void find(int n, int m, const std::uint64_t* rows);

  // By their first word.
  const std::vector<Child>& children(int constituent) const {
    return children_[static_cast<std::size_t>(constituent)];
  }
  int parent(int constituent) const { return parent_[static_cast<std::size_t>(constituent)]; }
  int word_parent(int word) const { return owner_[static_cast<std::size_t>(word)]; }

 private:
  std::vector<int> owner_, parent_, starting_;
  std::vector<std::vector<Child>> children_;
};

}  // namespace treemean
