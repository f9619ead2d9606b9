#include "bracket_writer.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace treemean {
namespace {

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
      shape_.find(n, m, rows);
      if (m > 0) write_tree();
      out_ += '\n';
      rows += static_cast<std::size_t>(m) * ((static_cast<std::size_t>(n) + 63) / 64);
    }
    return std::move(out_);
  }

 private:
  void write_tree() {
    stack_.clear();
    open(0);
    while (!stack_.empty()) {
      auto& [node, next] = stack_.back();
      const std::vector<Child>& children = shape_.children(node);
      if (next == children.size()) {
        out_ += ')';
        stack_.pop_back();
        continue;
      }
      const Child item = children[next++];
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
  Shape shape_;
  std::vector<Open> stack_;
};

}  // namespace

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
