#include "averaging/scores.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

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
  for (std::size_t g = 0; g < instance.groups(); ++g)
    scale.units[g] = scale.whole / instance.denominator(g, count);
  return scale;
}

std::int64_t most_members(const Instance& instance) {
  const std::int64_t sets = std::max<std::int64_t>(instance.words - 2, 0);
  if (!instance.labelled) return std::min(sets, static_cast<std::int64_t>(instance.candidates.size()));
  // The longest chains of as many sets as a tree can have, of words, and of the sentence.
  std::int64_t most = 0;
  std::vector<std::int64_t> longest;
  for (std::size_t c = 0, end = 0; c < instance.candidates.size(); c = end) {
    std::int64_t cost = 0;
    for (; end < instance.candidates.size() && instance.same_set(c, end); ++end)
      cost = std::max(cost, instance.costs[end]);
    if (instance.is_whole(c) || instance.is_single(c)) most += cost;
    else longest.push_back(cost);
  }
  std::sort(longest.begin(), longest.end(), std::greater<>());
  for (std::size_t i = 0; i < longest.size() && static_cast<std::int64_t>(i) < sets; ++i) most += longest[i];
  return most;
}

std::vector<std::uint32_t> smallest_tree(const Instance& instance) {
  std::vector<std::uint32_t> best;
  if (!instance.labelled) return best;
  double highest = 0;
  for (std::uint32_t c = 0; c < instance.candidates.size(); ++c) {
    if (!instance.is_whole(c)) continue;
    const std::vector<std::uint32_t> tree = {c};
    const double value = plain_value(instance, tree);
    if (best.empty() || value > highest) {
      best = tree;
      highest = value;
    }
  }
  return best;
}

std::vector<std::uint32_t> majority_tree(const Instance& instance, const Fraction& value) {
  std::vector<std::uint32_t> chosen;
  if (instance.majority_total <= 0) return chosen;
  for (std::uint32_t c = 0, end = 0; c < instance.candidates.size(); c = end) {
    std::uint32_t best = c;
    Int128 best_gain = 0;
    const bool whole = instance.is_whole(c);
    for (end = c; end < instance.candidates.size() && (end == c || instance.same_set(c, end)); ++end) {
      Int128 hits = 0;
      for (std::size_t g = 0; g < instance.groups(); ++g) hits += instance.hit(end, g);
      if (!whole && 2 * hits <= instance.cost(end) * Int128{instance.majority_total}) continue;
      const Int128 gain =
          hits * value.denominator - value.numerator * (instance.q * Int128{instance.cost(end)});
      if (gain > best_gain || (whole && end == c)) {
        best = end;
        best_gain = gain;
      }
    }
    if (best_gain > 0 || whole) chosen.push_back(best);
  }
  return chosen;
}

double least_share(const Instance& instance, std::int64_t count, std::int64_t cost) {
  const auto q = static_cast<double>(instance.q) * static_cast<double>(cost);
  const auto last = static_cast<double>(instance.denominator(instance.groups() - 1, count));
  if (!instance.labelled) return q / (last + q);
  return q / last * (1 - q / static_cast<double>(instance.denominator(0, count)));
}

double plain_value(const Instance& instance, std::span<const std::uint32_t> chosen) {
  double value = 0;
  const std::int64_t count = instance.cost_of(chosen);
  for (std::size_t g = 0; g < instance.groups(); ++g) {
    double hits = static_cast<double>(instance.base[g]);
    for (const std::uint32_t c : chosen) hits += static_cast<double>(instance.hit(c, g));
    value += hits / static_cast<double>(instance.denominator(g, count));
  }
  return value;
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
  // Solvers multiply scores by differences of sizes, and by the number of sets for ties. Scores are hits
  // times the scale, divided by a denominator.
  Int128 costs = instance.costs.empty() ? static_cast<Int128>(instance.candidates.size()) : 0,
         preferences = 0;
  for (const std::int64_t cost : instance.costs) costs += cost;
  for (const std::int64_t preference : instance.preferences) preferences += std::abs(preference);
  const std::int64_t largest = instance.labelled ? most_members(instance) : instance.words;
  const int used = bit_length(sum_of_magnitudes(instance)) + bit_length(largest) + bit_length(costs + 1) +
                   (preferences > 0 ? bit_length(2 * preferences + 1) : 0);
  const int gained = bit_length(instance.denominator(0, 0)) - 1;
  return Int128{1} << std::clamp(120 - used + gained, 20, 120 - bit_length(largest));
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
  const Scale scale = make_scale(instance, instance.cost_of(chosen), largest);
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
  const BigScale scale = make_big_scale(instance, instance.cost_of(chosen));
  BigFraction value{0, scale.whole};
  for (std::size_t g = 0; g < instance.groups(); ++g) {
    Int128 hits = instance.base[g];
    for (const std::uint32_t c : chosen) hits += instance.hit(c, g);
    value.numerator += BigInteger(hits) * scale.units[g];
  }
  return value;
}

}  // namespace treemean::averaging
