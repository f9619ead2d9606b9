#include "averaging/individuals.hpp"

#include <algorithm>
#include <cmath>

#include "validity.hpp"

namespace treemean::averaging {
namespace {

constexpr std::int64_t max_preference = std::int64_t{1} << 31;

// Sets must not be empty, nor hold words beyond the last one; the first set is the whole sentence.
bool sets_within(const std::uint64_t* bits, std::int64_t count, std::int64_t words) {
  const std::int64_t width = (words + 63) / 64;
  const std::uint64_t last = words % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << words % 64) - 1;
  for (std::int64_t c = 0; c < count; ++c, bits += width) {
    std::uint64_t any = 0, lacking = bits[width - 1] ^ last;
    for (std::int64_t k = 0; k < width; ++k) {
      any |= bits[k];
      if (k + 1 < width) lacking |= ~bits[k];
    }
    if (any == 0 || (bits[width - 1] & ~last) != 0 || (c == 0 && lacking != 0)) return false;
  }
  return true;
}

std::string in_sentence(const char* what, std::int64_t sentence) {
  return std::string(what).append(" in sentence ").append(std::to_string(sentence + 1));
}

// Every code must have a rank, and ranks be no negative numbers; `what` names them.
std::string check_codes(std::span<const std::int32_t> codes, std::span<const std::int32_t> ranks,
                        std::size_t count, const std::string& what) {
  if (codes.size() != count) return "a number of " + what + "s that is not that of constituents";
  for (const std::int32_t code : codes) {
    if (code < 0 || static_cast<std::size_t>(code) >= ranks.size()) return "a " + what + " code out of range";
  }
  if (std::any_of(ranks.begin(), ranks.end(), [](std::int32_t r) { return r < 0; }))
    return "a negative rank of a " + what;
  return "";
}

std::string check_one(Individual& individual, const Individuals& all) {
  const std::int64_t sentences = all.sentences();
  if (!ascending_from_zero(individual.constituent_offsets))
    return "constituent offsets that decrease or do not begin with 0";
  if (static_cast<std::int64_t>(individual.constituent_offsets.size()) != sentences + 1)
    return "a different number of sentences";
  const auto count = static_cast<std::size_t>(individual.constituent_offsets.back());
  if (std::string why = check_codes(individual.labels, individual.label_ranks, count, "label"); !why.empty())
    return why;
  if (individual.has_functions()) {
    if (std::string why = check_codes(individual.functions, individual.function_ranks, count, "function");
        !why.empty())
      return why;
  }
  if (!individual.values.empty() && individual.values.size() != count)
    return "a number of values that is not that of constituents";
  if (!individual.preferences.empty() && individual.preferences.size() != count)
    return "a number of preferences that is not that of constituents";
  for (const std::int64_t preference : individual.preferences) {
    if (preference < -max_preference || preference > max_preference) return "a preference that is too large";
  }
  if (!individual.sizes.empty() && static_cast<std::int64_t>(individual.sizes.size()) != sentences)
    return "a number of sizes that is not that of sentences";
  if (individual.posteriors.size() != (individual.is_trees() ? 0 : count))
    return "a number of posteriors that is not that of spans";
  if (std::any_of(individual.posteriors.begin(), individual.posteriors.end(),
                  [](double posterior) { return !(posterior >= 0 && posterior <= 1); }))
    return "a posterior that is not between 0 and 1";
  for (std::size_t s = 0; s < individual.sizes.size(); ++s) {
    const std::int64_t most = std::max<std::int64_t>(all.words(static_cast<std::int64_t>(s)) - 2, 0);
    if (individual.sizes[s] < 0 || individual.sizes[s] > most)
      return in_sentence("a size that no tree has,", static_cast<std::int64_t>(s));
  }
  if (individual.continuous < 0 || individual.discontinuous < 0) return "a negative weight";
  for (const double value : individual.values) {
    if (!std::isfinite(value)) return "a value that is not finite";
  }
  individual.bit_offsets.assign(1, 0);
  individual.bit_offsets.reserve(static_cast<std::size_t>(sentences) + 1);
  for (std::int64_t s = 0; s < sentences; ++s) {
    const std::int64_t words = all.words(s);
    const std::int64_t here = individual.constituent_offsets[s + 1] - individual.constituent_offsets[s];
    if (words == 0 ? here != 0 : here == 0) return in_sentence("no root, or one without words,", s);
    const std::int64_t at = individual.bit_offsets.back();
    const std::int64_t width = words / 64 + (words % 64 != 0 ? 1 : 0);
    // Divided instead of multiplied: the product may be too large for a number.
    const auto left = static_cast<std::int64_t>(individual.bits.size()) - at;
    if (here != 0 && width > left / here) return "fewer bits than the constituents need";
    if (!sets_within(individual.bits.data() + at, here, words)) {
      return in_sentence("a set that is empty, goes beyond the last word, or lacks words as a root,", s);
    }
    individual.bit_offsets.push_back(at + here * width);
  }
  if (individual.bit_offsets.back() != static_cast<std::int64_t>(individual.bits.size()))
    return "more bits than the constituents need";
  return "";
}

}  // namespace

std::int64_t Individuals::fixed_weight(std::size_t individual) const {
  const std::int64_t weight = all[individual].continuous;
  return valued ? std::llround(static_cast<double>(weight) * value_scale) : weight;
}

std::int64_t Individuals::worth(std::size_t individual, std::int64_t constituent, bool discontinuous) const {
  const Individual& one = all[individual];
  const std::int64_t weight = discontinuous ? one.discontinuous : one.continuous;
  if (!valued) return weight;
  const double value = one.values.empty() ? 1.0 : one.values[static_cast<std::size_t>(constituent)];
  return std::llround(static_cast<double>(weight) * value * value_scale);
}

// Sums of hits over a whole sentence must fit into 62 bits, and into 122 bits when they are multiplied with
// the largest denominator and the number of candidates (see `TieWeights`).
std::string Individuals::check_room(std::int64_t p, std::int64_t q, bool labelled,
                                    double largest_preference) const {
  double total = 0, say = 0, longest = 0;
  for (const Individual& individual : all) {
    double largest = 1;
    for (const double value : individual.values) largest = std::max(largest, std::abs(value));
    const auto weight = static_cast<double>(std::max(individual.continuous, individual.discontinuous));
    total += weight * (valued ? largest * value_scale : 1);
    say += static_cast<double>(individual.continuous);
  }
  if (say <= 0) return "no individual has a continuous weight";
  // Twice the words, and all constituents if these have labels: a tree has no more.
  double size = 0, proposals = 0;
  for (std::int64_t s = 0; s < sentences(); ++s) {
    const auto length = static_cast<double>(words(s));
    double here = 0;
    for (const Individual& individual : all)
      here += static_cast<double>(individual.constituent_offsets[s + 1] - individual.constituent_offsets[s]);
    longest = std::max(longest, length);
    proposals = std::max(proposals, here);
    size = std::max(size, 2 * length + 2 + (labelled ? here : 0));
  }
  const bool trees =
      std::all_of(all.begin(), all.end(), [](const Individual& one) { return one.is_trees(); });
  const double sum = total * size;
  const double denominator = static_cast<double>(p + q) * size;
  const double of_trees = static_cast<double>(all.size()) * (labelled ? size : longest);
  const double candidates = (trees ? of_trees : std::max(of_trees, proposals)) + 1;
  const double ties = 2 * largest_preference * candidates + 1;
  const bool fits = sum < 0x1p62 && sum * denominator * candidates * ties < 0x1p122;
  return fits ? "" : "weights, values or beta are too large or too fine";
}

std::string Individuals::check(std::int64_t p, std::int64_t q, bool labelled) {
  if (!ascending_from_zero(word_offsets)) return "word offsets that decrease or do not begin with 0";
  if (all.empty()) return "no individuals";
  if (!std::isfinite(value_scale) || value_scale <= 0) return "a scale of values that is not positive";
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (const std::string why = check_one(all[k], *this); !why.empty())
      return std::string("individual ").append(std::to_string(k + 1)).append(" has ").append(why);
  }
  return check_room(p, q, labelled, 0);
}

}  // namespace treemean::averaging
