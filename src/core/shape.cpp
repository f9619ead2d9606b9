#include "shape.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace treemean {

std::string_view CodedView::at(std::size_t index) const {
  const std::int32_t code = codes[index];
  if (code < 0 || static_cast<std::size_t>(code) + 1 >= offsets.size())
    throw std::out_of_range("a code without a text");
  const std::int64_t begin = offsets[code], end = offsets[code + 1];
  if (begin < 0 || end < begin || static_cast<std::size_t>(end) > data.size())
    throw std::out_of_range("a text outside the data");
  return {reinterpret_cast<const char*>(data.data()) + begin, static_cast<std::size_t>(end - begin)};
}

// Parents come before their children, so the last set that holds a word is the one directly above it. Going
// through the sets once, each can be hung under the owner of its first word; children are listed by first
// word because words and sets are visited together in that order.
void Shape::find(int n, int m, const std::uint64_t* rows) {
  const std::size_t width = (static_cast<std::size_t>(n) + 63) / 64;
  owner_.assign(static_cast<std::size_t>(n), -1);
  children_.resize(std::max(children_.size(), static_cast<std::size_t>(m)));
  for (int c = 0; c < m; ++c) children_[c].clear();
  starting_.assign(static_cast<std::size_t>(n) + 1, 0);
  parent_.assign(static_cast<std::size_t>(m), -1);
  for (int c = 0; c < m; ++c) {
    bool first = true;
    for (std::size_t k = 0; k < width; ++k) {
      for (std::uint64_t word = rows[c * width + k]; word != 0; word &= word - 1) {
        const auto p = 64 * k + static_cast<std::size_t>(std::countr_zero(word));
        if (first) {
          parent_[c] = owner_[p];
          ++starting_[p + 1];
          first = false;
        }
        owner_[p] = c;
      }
    }
  }
  int c = 0;
  for (int p = 0; p < n; ++p) {
    for (int count = starting_[p + 1]; count > 0; --count, ++c) {
      if (parent_[c] >= 0) children_[parent_[c]].push_back({false, c});
    }
    if (owner_[p] >= 0) children_[owner_[p]].push_back({true, p});
  }
}

}  // namespace treemean
