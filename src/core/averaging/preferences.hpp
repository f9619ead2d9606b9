// What decides between equally good trees: the second objective.
#pragma once

#include <cstddef>
#include <cstdint>

#include "averaging/individuals.hpp"
#include "averaging/instance.hpp"

namespace treemean::averaging {

// What one constituent with these words is worth; values of one's own are looked up with an individual that
// has it.
std::int64_t preference_of(const std::uint64_t* words, std::size_t width, Ties ties,
                           const Individual& individual, std::int64_t constituent);

// The largest size of such a number.
double largest_preference(const Individuals& individuals, Ties ties);

}  // namespace treemean::averaging
