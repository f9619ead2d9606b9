// The positions that leaves of discbracket have, INDEX=word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "columns.hpp"

namespace treemean {

// The positions of the leaves of one sentence, in the order in which they stand in the text.
class Positions {
 public:
  void clear();

  // Takes the position from a leaf and returns the word, which is empty if the leaf is a number only. Throws
  // ReadError, which names `at`.
  std::string_view take(std::string_view leaf, std::size_t at);

  // How many leaves were numbers only.
  std::size_t bare() const { return bare_; }

  std::int64_t operator[](std::size_t leaf) const { return positions_[leaf]; }

  // Puts the words of the leaves in the order of their positions, which must run from 0 without gaps.
  void order(std::vector<Word>& words, std::size_t at);

 private:
  std::vector<std::int64_t> positions_;
  std::size_t bare_ = 0;
  std::vector<Word> ordered_;  // scratch
  std::vector<bool> seen_;
};

}  // namespace treemean
