#include "averaging/binarise.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace treemean::averaging {
namespace {

using Words = std::vector<std::uint64_t>;

// A child is another set or a single word.
struct Child {
  bool is_word;
  std::uint32_t index;
};

class Binariser {
 public:
  Binariser(const std::vector<const std::uint64_t*>& sets, std::int64_t words)
      : sets_(sets), width_(static_cast<std::size_t>(words + 63) / 64), children_(sets.size()) {
    constexpr std::uint32_t nobody = ~std::uint32_t{0};
    // In canonical order the last set so far that holds a word is the smallest one.
    std::vector<std::uint32_t> owner(static_cast<std::size_t>(words), nobody);
    std::vector<std::uint32_t> parent(sets.size(), nobody);
    for (std::uint32_t s = 0; s < sets.size(); ++s) {
      for (std::size_t k = 0; k < width_; ++k) {
        for (std::uint64_t word = sets[s][k]; word != 0; word &= word - 1) {
          std::uint32_t& smallest = owner[64 * k + static_cast<std::size_t>(std::countr_zero(word))];
          parent[s] = smallest;
          smallest = s;
        }
      }
    }
    // Children come by their first word: each is entered when the first of its words is met.
    std::vector<bool> entered(sets.size(), false);
    for (std::uint32_t word = 0; word < owner.size(); ++word) {
      Child child{true, word};
      std::uint32_t above = owner[word];
      while (above != nobody) {
        children_[above].push_back(child);
        if (entered[above]) break;
        entered[above] = true;
        child = {false, above};
        above = parent[above];
      }
    }
  }

  std::vector<AddedSet> run(Direction direction) {
    for (parent_ = 0; parent_ < children_.size(); ++parent_) {
      const std::span<const Child> children = children_[parent_];
      if (children.size() <= 2) continue;
      if (direction == Direction::balanced) {
        halve(children);
      } else if (direction == Direction::last) {
        chain(last_first(children), true);
      } else {
        chain(children, direction == Direction::right);
      }
    }
    return std::move(added_);
  }

 private:
  void join(Words& words, const Child& child) const {
    if (child.is_word) {
      words[child.index / 64] |= std::uint64_t{1} << child.index % 64;
    } else {
      for (std::size_t k = 0; k < width_; ++k) words[k] |= sets_[child.index][k];
    }
  }

  // The children with the one that holds the last word at the end.
  std::vector<Child> last_first(std::span<const Child> children) const {
    std::vector<Child> result(children.begin(), children.end());
    const auto holds_more = [&](const Child& a, const Child& b) {
      Words x(width_, 0), y(width_, 0);
      join(x, a);
      join(y, b);
      return std::lexicographical_compare(x.rbegin(), x.rend(), y.rbegin(), y.rend());
    };
    const auto last = std::max_element(result.begin(), result.end(), holds_more);
    std::rotate(last, last + 1, result.end());
    return result;
  }

  void chain(std::span<const Child> children, bool from_the_end) {
    Words words(width_, 0);
    for (std::size_t i = 0; i + 1 < children.size(); ++i) {
      join(words, children[from_the_end ? children.size() - 1 - i : i]);
      if (i > 0) added_.push_back({words, parent_});
    }
  }

  void halve(std::span<const Child> children) {
    std::vector<std::span<const Child>> todo{children};
    while (!todo.empty()) {
      const std::span<const Child> part = todo.back();
      todo.pop_back();
      for (const std::span<const Child> half : {part.first(part.size() / 2), part.subspan(part.size() / 2)}) {
        if (half.size() < 2) continue;
        Words words(width_, 0);
        for (const Child& child : half) join(words, child);
        added_.push_back({std::move(words), parent_});
        todo.push_back(half);
      }
    }
  }

  const std::vector<const std::uint64_t*>& sets_;
  std::size_t width_;
  std::vector<std::vector<Child>> children_;
  std::vector<AddedSet> added_;
  std::uint32_t parent_ = 0;
};

}  // namespace

std::vector<AddedSet> missing_sets(const std::vector<const std::uint64_t*>& sets, std::int64_t words,
                                   Direction direction) {
  return Binariser(sets, words).run(direction);
}

}  // namespace treemean::averaging
