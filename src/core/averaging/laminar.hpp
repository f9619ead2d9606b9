// The heaviest compatible family of sets, by a memoised search over the words that are still available.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "averaging/budget.hpp"
#include "averaging/conflicts.hpp"
#include "averaging/integers.hpp"

namespace treemean::averaging {

struct LaminarFamily {
  Int128 value = 0;
  std::vector<std::uint32_t> chosen;  // indices into `rows`, ascending
};

// Returns the heaviest compatible family of `rows` (of `width` bit words, weights positive), or nothing when
// the budget does not suffice. It depends on few different sets of words remaining: for continuous sets these
// are O(n²), for others there may be exponentially many, one step of the budget each.
std::optional<LaminarFamily> heaviest_laminar_family(std::span<const Row> rows,
                                                     std::span<const Int128> weights, std::size_t width,
                                                     Budget& budget);

}  // namespace treemean::averaging
