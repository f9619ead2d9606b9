#include "bracket_writer.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>
#include <vector>

namespace treemean {
namespace {

// A word or a constituent below another constituent, in a list of siblings.
struct Item {
  bool is_word;
  int index;
};

class Writer {
 public:
  Writer(const BracketColumns& columns, bool positions) : columns_(columns), positions_(positions) {}

  std::string write() {
    const std::uint64_t* rows = columns_.trees.bits.data();
    for (std::size_t s = 0; s + 1 < columns_.trees.word_offsets.size(); ++s) {
      first_word_ = static_cast<std::size_t>(columns_.trees.word_offsets[s]);
      first_constituent_ = static_cast<std::size_t>(columns_.trees.constituent_offsets[s]);
      const auto n = static_cast<int>(columns_.trees.word_offsets[s + 1] - columns_.trees.word_offsets[s]);
      const auto m =
          static_cast<int>(columns_.trees.constituent_offsets[s + 1] - columns_.trees.constituent_offsets[s]);
      find_children(n, m, rows);
      if (m > 0) write_tree();
      out_ += '\n';
      rows += static_cast<std::size_t>(m) * ((static_cast<std::size_t>(n) + 63) / 64);
    }
    return std::move(out_);
  }

 private:
  // Parents come before their children, so the last set that holds a word is the one directly above it. Going
  // through the sets once, each can be hung under the owner of its first word; children are listed by first
  // word because words and sets are visited together in that order.
  void find_children(int n, int m, const std::uint64_t* rows) {
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

  void write_tree() {
    stack_.clear();
    open(0);
    while (!stack_.empty()) {
      auto& [node, next] = stack_.back();
      const std::vector<Item>& children = children_[node];
      if (next == children.size()) {
        out_ += ')';
        stack_.pop_back();
        continue;
      }
      const Item item = children[next++];
      out_ += ' ';
      if (item.is_word) {
        write_word(item.index, node, children.size() == 1);
      } else {
        open(item.index);
      }
    }
  }

  void open(int node) {
    out_ += '(';
    out_ += columns_.labels.at(first_constituent_ + static_cast<std::size_t>(node));
    stack_.push_back({node, 0});
  }

  // A word without a tag stands by itself, unless it would then be taken for a tagged one.
  void write_word(int position, int parent, bool alone) {
    const std::size_t index = first_word_ + static_cast<std::size_t>(position);
    const std::string_view tag = columns_.tags.at(index);
    const bool wrapped = !tag.empty() || alone ||
                         columns_.labels.at(first_constituent_ + static_cast<std::size_t>(parent)).empty();
    if (wrapped) {
      out_ += '(';
      out_ += tag;
      out_ += ' ';
    }
    if (positions_) {
      out_ += std::to_string(position);
      out_ += '=';
    }
    out_ += columns_.words.at(index);
    if (wrapped) out_ += ')';
  }

  struct Open {
    int node;
    std::size_t next;
  };

  const BracketColumns& columns_;
  bool positions_;
  std::string out_;
  std::size_t first_word_ = 0, first_constituent_ = 0;
  std::vector<int> owner_, parent_, starting_;
  std::vector<std::vector<Item>> children_;
  std::vector<Open> stack_;
};

}  // namespace

std::string_view CodedView::at(std::size_t index) const {
  const std::int32_t code = codes[index];
  if (code < 0 || static_cast<std::size_t>(code) + 1 >= offsets.size())
    throw std::out_of_range("a code without a text");
  const std::int64_t begin = offsets[code], end = offsets[code + 1];
  if (begin < 0 || end < begin || static_cast<std::size_t>(end) > data.size())
    throw std::out_of_range("a text outside the data");
  return {reinterpret_cast<const char*>(data.data()) + begin, static_cast<std::size_t>(end - begin)};
}

std::string write_brackets(const BracketColumns& columns, bool positions) {
  if (const auto bad = find_invalid(columns.trees)) {
    throw std::invalid_argument("sentence " + std::to_string(bad->first) + ": " + bad->second);
  }
  const auto words = static_cast<std::size_t>(columns.trees.word_offsets.back());
  if (columns.words.codes.size() != words || columns.tags.codes.size() != words ||
      columns.labels.codes.size() != static_cast<std::size_t>(columns.trees.constituent_offsets.back())) {
    throw std::invalid_argument("columns of different lengths");
  }
  return Writer(columns, positions).write();
}

}  // namespace treemean
