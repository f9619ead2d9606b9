#include "positions.hpp"

#include <string>

#include "bracket_lines.hpp"
#include "read_error.hpp"

namespace treemean {

void Positions::clear() {
  positions_.clear();
  bare_ = 0;
}

std::string_view Positions::take(std::string_view leaf, std::size_t at) {
  std::size_t digits = 0;
  std::int64_t position = 0;
  while (digits < leaf.size() && leaf[digits] >= '0' && leaf[digits] <= '9' && position < (1 << 30)) {
    position = 10 * position + (leaf[digits++] - '0');
  }
  const bool bare = digits == leaf.size();
  if (digits == 0 || (!bare && leaf[digits] != '=')) {
    throw ReadError{"the leaf '" + shown(leaf) + "' is not of the form INDEX=word", at};
  }
  const std::string_view word = bare ? std::string_view{} : leaf.substr(digits + 1);
  if (!bare && word.empty()) throw ReadError{"the leaf '" + shown(leaf) + "' has no word", at};
  bare_ += bare ? 1 : 0;
  positions_.push_back(position);
  return word;
}

void Positions::order(std::vector<Word>& words, std::size_t at) {
  const std::size_t n = positions_.size();
  ordered_.assign(n, Word{});
  seen_.assign(n, false);
  for (std::size_t i = 0; i < n; ++i) {
    const auto position = static_cast<std::size_t>(positions_[i]);
    if (position >= n) {
      throw ReadError{"word " + std::to_string(position) + " in a tree of " + std::to_string(n) +
                          " words: numbers must run from 0 without gaps",
                      at};
    }
    if (seen_[position]) throw ReadError{"word " + std::to_string(position) + " occurs twice", at};
    seen_[position] = true;
    ordered_[position] = words[i];
  }
  words.swap(ordered_);
}

}  // namespace treemean
