#include "averaging/scores.hpp"

#include <algorithm>

namespace treemean::averaging {
namespace {

Int128 greatest_common_divisor(Int128 a, Int128 b) {
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace

Scale make_scale(const Instance& instance, std::int64_t count, Int128 largest) {
  Scale scale;
  for (std::size_t g = 0; g < instance.groups(); ++g) {
    const Int128 denominator = instance.denominator(g, count);
    const Int128 factor = denominator / greatest_common_divisor(scale.whole, denominator);
    if (scale.whole > largest / factor) {
      scale.whole = largest;
      scale.exact = false;
      break;
    }
    scale.whole *= factor;
  }
  scale.units.resize(instance.groups());
  for (std::size_t g = 0; g < instance.groups(); ++g) scale.units[g] = scale.whole / instance.denominator(g, count);
  return scale;
}

Int128 largest_scale_for(const Instance& instance) {
  // Solvers multiply by differences of sizes, and by the number of sets for ties.
  Int128 sum = 1;
  for (const std::int64_t hits : instance.hits) sum += hits < 0 ? -Int128{hits} : Int128{hits};
  for (const std::int64_t base : instance.base) sum += base;
  const int used =
      bit_length(sum) + bit_length(instance.words) + bit_length(static_cast<Int128>(instance.candidates.size()) + 1);
  return Int128{1} << std::clamp(120 - used, 20, 90);
}

Int128 score(const Instance& instance, const Scale& scale, std::size_t candidate) {
  Int128 result = 0;
  for (std::size_t g = 0; g < instance.groups(); ++g) result += instance.hit(candidate, g) * scale.units[g];
  return result;
}

Int128 base_score(const Instance& instance, const Scale& scale) {
  Int128 result = 0;
  for (std::size_t g = 0; g < instance.groups(); ++g) result += instance.base[g] * scale.units[g];
  return result;
}

Fraction value_of(const Instance& instance, const std::vector<std::uint32_t>& chosen, Int128 largest) {
  const Scale scale = make_scale(instance, static_cast<std::int64_t>(chosen.size()), largest);
  Fraction value{base_score(instance, scale), scale.whole};
  for (const std::uint32_t c : chosen) value.numerator += score(instance, scale, c);
  return value;
}

}  // namespace treemean::averaging
