#include "validity.hpp"

#include <bit>
#include <vector>

namespace treemean {

bool ascending_from_zero(std::span<const std::int64_t> offsets) {
  if (offsets.empty() || offsets.front() != 0) return false;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) return false;
  }
  return true;
}

// Words beyond a sentence's end, nesting, root and canonical order of one sentence.
std::string fault_of_tree(std::int64_t n, std::int64_t count, const std::uint64_t* rows,
                          std::vector<std::int64_t>& owner) {
  if (n == 0) return count == 0 ? "" : "constituents without words";
  if (count == 0) return "no constituent spans the whole sentence";  // words may be any number then
  const std::int64_t width = (n + 63) / 64;
  owner.assign(static_cast<std::size_t>(n), -1);
  std::int64_t last_first = -1, last_size = 0;
  for (std::int64_t c = 0; c < count; ++c) {
    const std::uint64_t* row = rows + c * width;
    if (n % 64 != 0 && row[width - 1] >> (n % 64) != 0)
      return "constituent " + std::to_string(c) + " goes beyond the last word";
    std::int64_t first = -1, size = 0, parent = -1;
    for (std::int64_t k = 0; k < width; ++k) {
      for (std::uint64_t word = row[k]; word != 0; word &= word - 1) {
        const std::int64_t p = 64 * k + std::countr_zero(word);
        if (first < 0) {
          first = p;
          parent = owner[p];
        } else if (owner[p] != parent) {
          return "constituent " + std::to_string(c) + " overlaps another one";
        }
        ++size;
      }
    }
    if (first < 0) return "constituent " + std::to_string(c) + " has no words";
    if (c == 0 && size != n) return "the first constituent does not span the whole sentence";
    if (first < last_first || (first == last_first && size > last_size)) {
      return "constituent " + std::to_string(c) + " is not in order (by first word, larger ones first)";
    }
    last_first = first;
    last_size = size;
    // In this order a set's parent is always the last set so far that holds its words.
    for (std::int64_t k = 0; k < width; ++k) {
      for (std::uint64_t word = row[k]; word != 0; word &= word - 1)
        owner[64 * k + std::countr_zero(word)] = c;
    }
  }
  return "";
}

std::optional<std::pair<std::int64_t, std::string>> find_invalid(const TreeColumns& trees) {
  const auto& [word_offsets, constituent_offsets, bits] = trees;
  if (!ascending_from_zero(word_offsets) || !ascending_from_zero(constituent_offsets) ||
      word_offsets.size() != constituent_offsets.size()) {
    return {{0, "offsets that decrease or do not begin with 0"}};
  }
  std::vector<std::int64_t> owner;
  std::size_t at = 0;
  for (std::size_t s = 0; s + 1 < word_offsets.size(); ++s) {
    const std::int64_t n = word_offsets[s + 1] - word_offsets[s];
    const std::int64_t count = constituent_offsets[s + 1] - constituent_offsets[s];
    const auto width = static_cast<std::size_t>(n / 64 + (n % 64 != 0 ? 1 : 0));
    const auto rows = static_cast<std::size_t>(count);
    // Divided instead of multiplied: the product may be too large for a number.
    if (rows != 0 && width > (bits.size() - at) / rows) {
      return {{static_cast<std::int64_t>(s), "fewer bits than the constituents need"}};
    }
    if (std::string why = fault_of_tree(n, count, bits.data() + at, owner); !why.empty()) {
      return {{static_cast<std::int64_t>(s), std::move(why)}};
    }
    at += width * rows;
  }
  if (at != bits.size())
    return {{static_cast<std::int64_t>(word_offsets.size()) - 1, "more bits than the constituents need"}};
  return std::nullopt;
}

}  // namespace treemean
