#include "averaging/instance.hpp"

#include <algorithm>

namespace treemean::averaging {

void sort_canonically(const Instance& instance, std::vector<std::uint32_t>& candidates) {
  std::sort(candidates.begin(), candidates.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (instance.labelled && instance.same_set(a, b)) return a < b;
    return precedes(instance.candidates[a], instance.candidates[b]);
  });
}

}  // namespace treemean::averaging
