#include "averaging/preferences.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace treemean::averaging {
namespace {

std::int64_t first_word(const std::uint64_t* words) {
  std::int64_t k = 0;
  while (words[k] == 0) ++k;
  return 64 * k + std::countr_zero(words[k]);
}

std::int64_t last_word(const std::uint64_t* words, std::size_t width) {
  std::size_t k = width - 1;
  while (words[k] == 0) --k;
  return static_cast<std::int64_t>(64 * k) + 63 - std::countl_zero(words[k]);
}

}  // namespace

std::int64_t preference_of(const std::uint64_t* words, std::size_t width, Ties ties,
                           const Individual& individual, std::int64_t constituent) {
  switch (ties) {
    case Ties::right:
      return last_word(words, width);
    case Ties::left:
      return -first_word(words);
    case Ties::values:
      return individual.preference(constituent);
    case Ties::canonical:
      break;
  }
  return 0;
}

double largest_preference(const Individuals& individuals, Ties ties) {
  double largest = 0;
  if (ties == Ties::right || ties == Ties::left) {
    for (std::int64_t s = 0; s < individuals.sentences(); ++s)
      largest = std::max(largest, static_cast<double>(individuals.words(s)));
  } else if (ties == Ties::values) {
    for (const Individual& individual : individuals.all) {
      for (const std::int64_t preference : individual.preferences)
        largest = std::max(largest, std::abs(static_cast<double>(preference)));
    }
  }
  return largest;
}

}  // namespace treemean::averaging
