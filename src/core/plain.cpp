#include "plain.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace treemean {

bool has_wide_blank_at_an_end(std::string_view text) {
  constexpr std::array<std::string_view, 19> blanks = {
      "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
      "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
      "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
      "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};
  if (text.empty() || ((text.front() & 0x80) == 0 && (text.back() & 0x80) == 0)) return false;
  return std::ranges::any_of(
      blanks, [&](std::string_view blank) { return text.starts_with(blank) || text.ends_with(blank); });
}

bool has_too_many_pieces(std::string_view record, std::string_view signs) {
  if (record.size() <= max_pieces) return false;
  std::size_t pieces = 0;
  for (const char sign : signs) pieces += static_cast<std::size_t>(std::ranges::count(record, sign));
  return pieces > max_pieces;
}

bool ParentsFirst::arrange(Sentence& sentence) {
  const std::size_t count = sentence.nodes.size();
  pending_.assign(count, 0);
  holds_words_.assign(count, 0);
  for (const Node& node : sentence.nodes) {
    if (node.parent != no_parent) ++pending_[static_cast<std::size_t>(node.parent)];
  }
  for (const Word& word : sentence.words) {
    if (word.parent != no_parent) holds_words_[static_cast<std::size_t>(word.parent)] = 1;
  }
  // From below: a node is taken when all its children are; what is above itself never is.
  order_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (pending_[i] == 0) order_.push_back(static_cast<int>(i));
  }
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const auto node = static_cast<std::size_t>(order_[k]);
    if (!holds_words_[node]) return false;
    if (const int parent = sentence.nodes[node].parent; parent != no_parent) {
      const auto above = static_cast<std::size_t>(parent);
      holds_words_[above] = 1;
      if (--pending_[above] == 0) order_.push_back(parent);
    }
  }
  if (order_.size() < count) return false;
  std::ranges::reverse(order_);
  index_of_.resize(count);
  for (std::size_t k = 0; k < count; ++k)
    index_of_[static_cast<std::size_t>(order_[k])] = static_cast<int>(k);
  const auto moved = [&](int parent) {
    return parent == no_parent ? no_parent : index_of_[static_cast<std::size_t>(parent)];
  };
  nodes_.clear();
  for (const int node : order_) {
    nodes_.push_back(sentence.nodes[static_cast<std::size_t>(node)]);
    nodes_.back().parent = moved(nodes_.back().parent);
  }
  sentence.nodes.swap(nodes_);
  for (Word& word : sentence.words) word.parent = moved(word.parent);
  return !is_too_deep(sentence);
}

bool ParentsFirst::is_too_deep(const Sentence& sentence) {
  if (sentence.nodes.size() <= max_depth) return false;
  depths_.clear();
  for (const Node& node : sentence.nodes) {
    depths_.push_back(node.parent == no_parent ? 1 : depths_[static_cast<std::size_t>(node.parent)] + 1);
  }
  return std::ranges::max(depths_) > max_depth;
}

}  // namespace treemean
