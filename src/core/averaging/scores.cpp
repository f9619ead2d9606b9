#include "averaging/scores.hpp"

#include <algorithm>
#include <cmath>

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

std::int64_t most_members(const Instance& instance) {
  return std::min(std::max<std::int64_t>(instance.words - 2, 0), static_cast<std::int64_t>(instance.candidates.size()));
}

bool has_exact_scales(const Instance& instance, Int128 largest) {
  if (instance.groups() == 1) return true;
  for (std::int64_t count = 0; count <= most_members(instance); ++count) {
    if (!make_scale(instance, count, largest).exact) return false;
  }
  return true;
}

Int128 sum_of_magnitudes(const Instance& instance) {
  Int128 sum = 1;
  for (const std::int64_t hits : instance.hits) sum += hits < 0 ? -Int128{hits} : Int128{hits};
  for (const std::int64_t base : instance.base) sum += base;
  return sum;
}

double visible_rounding(const Instance& instance, Int128 largest, const Fraction& value) {
  const double rounding = static_cast<double>(sum_of_magnitudes(instance)) / static_cast<double>(largest);
  return rounding > 1e-12 * std::abs(to_double(value)) ? rounding : 0;
}

Int128 largest_scale_for(const Instance& instance) {
  // Solvers multiply scores by differences of sizes, and by the number of sets for ties. Scores are hits times the
  // scale, divided by a denominator.
  const int used = bit_length(sum_of_magnitudes(instance)) + bit_length(instance.words) +
                   bit_length(static_cast<Int128>(instance.candidates.size()) + 1);
  const int gained = bit_length(instance.denominator(0, 0)) - 1;
  return Int128{1} << std::clamp(120 - used + gained, 20, 120 - bit_length(instance.words));
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

std::strong_ordering compare(const BigFraction& a, const BigFraction& b) {
  return a.numerator * b.denominator <=> b.numerator * a.denominator;
}

BigScale make_big_scale(const Instance& instance, std::int64_t count) {
  const std::size_t groups = instance.groups();
  BigScale scale{1, std::vector<BigInteger>(groups, 1)};
  for (std::size_t g = 0; g < groups; ++g) {
    const BigInteger denominator = instance.denominator(g, count);
    for (std::size_t other = 0; other < groups; ++other) {
      if (other != g) scale.units[other] = scale.units[other] * denominator;
    }
    scale.whole = scale.whole * denominator;
  }
  return scale;
}

BigFraction exact_value_of(const Instance& instance, const std::vector<std::uint32_t>& chosen) {
  const BigScale scale = make_big_scale(instance, static_cast<std::int64_t>(chosen.size()));
  BigFraction value{0, scale.whole};
  for (std::size_t g = 0; g < instance.groups(); ++g) {
    Int128 hits = instance.base[g];
    for (const std::uint32_t c : chosen) hits += instance.hit(c, g);
    value.numerator += BigInteger(hits) * scale.units[g];
  }
  return value;
}

}  // namespace treemean::averaging
