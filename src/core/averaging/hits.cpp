#include "averaging/hits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "averaging/preferences.hpp"

namespace treemean::averaging {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

bool same(const std::uint64_t* a, const std::uint64_t* b, std::size_t width) {
  for (std::size_t k = 0; k < width; ++k) {
    if (a[k] != b[k]) return false;
  }
  return true;
}

bool has_gap(const std::uint64_t* words, std::size_t width) {
  bool begun = false;
  std::uint64_t carry = 0;
  for (std::size_t k = 0; k < width; ++k) {
    const std::uint64_t beginnings = words[k] & ~(words[k] << 1 | carry);
    if ((beginnings & (beginnings - 1)) != 0 || (begun && beginnings != 0)) return true;
    begun |= beginnings != 0;
    carry = words[k] >> 63;
  }
  return false;
}

bool has_several(const std::uint64_t* words, std::size_t width) {
  bool one = false;
  for (std::size_t k = 0; k < width; ++k) {
    if ((words[k] & (words[k] - 1)) != 0 || (one && words[k] != 0)) return true;
    one |= words[k] != 0;
  }
  return false;
}

bool has_all(const std::uint64_t* words, std::int64_t count) {
  for (; count >= 64; count -= 64) {
    if (~*words++ != 0) return false;
  }
  return count == 0 || *words == (std::uint64_t{1} << count) - 1;
}

}  // namespace

inline std::size_t HitCounter::place_of_word(std::uint64_t word) const {
  const std::size_t last = table_.size() - 1;
  std::size_t at = word * 0x9e3779b97f4a7c15u >> table_shift_;
  while (table_[at] != 0 && *proposals_[table_[at] - 1].words != word) at = (at + 1) & last;
  return at;
}

std::size_t HitCounter::place_of_words(const std::uint64_t* words) const {
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < width_; ++k) hash = (hash ^ words[k] ^ hash >> 32) * 0x9e3779b97f4a7c15u;
  std::size_t at = hash >> table_shift_;
  while (table_[at] != 0 && !same(words, proposals_[table_[at] - 1].words, width_)) {
    at = (at + 1) & (table_.size() - 1);
  }
  return at;
}

std::int64_t HitCounter::find(const std::uint64_t* words) const {
  return static_cast<std::int64_t>(table_[place_of(words)]) - 1;
}

std::uint32_t HitCounter::find_or_add(const std::uint64_t* words) {
  std::uint32_t& entry = table_[place_of(words)];
  if (entry == 0) {
    const auto number = static_cast<std::uint32_t>(proposals_.size());
    entry = number + 1;
    std::int32_t candidate = Proposal::single_word;
    if (has_all(words, instance_.words)) {
      candidate = Proposal::whole;
    } else if (has_several(words, width_)) {
      candidate = static_cast<std::int32_t>(proposal_of_.size());
      proposal_of_.push_back(number);
      instance_.candidates.push_back(make_row(words, width_));
    }
    proposals_.push_back({words, 0, nobody, candidate, has_gap(words, width_)});
  }
  return entry - 1;
}

void HitCounter::clear() {
  instance_.words = instance_.fixed = 0;
  instance_.candidates.clear();
  instance_.hits.clear();
  proposals_.clear();
  occurrences_.clear();
  proposal_of_.clear();
  has_chains_ = false;
  instance_.trees = true;
}

void HitCounter::count(const Individuals& individuals, std::int64_t sentence, std::int64_t p,
                       std::int64_t q) {
  find(individuals, sentence);
  instance_.p = p;
  instance_.q = q;
  make_groups(individuals);
  sum_hits(individuals);
}

void HitCounter::prefer(const Individuals& individuals, Ties ties) {
  instance_.preferences.assign(ties == Ties::canonical ? 0 : proposal_of_.size(), 0);
  if (ties == Ties::canonical) return;
  for (const Occurrence& occurrence : occurrences_) {
    const Proposal& proposal = proposals_[occurrence.proposal];
    if (proposal.candidate < 0) continue;
    instance_.preferences[static_cast<std::size_t>(proposal.candidate)] = preference_of(
        proposal.words, width_, ties, individuals.all[occurrence.individual], occurrence.constituent);
  }
}

void HitCounter::find(const Individuals& individuals, std::int64_t sentence) {
  const std::int64_t words = individuals.words(sentence);
  clear();
  width_ = static_cast<std::size_t>(words + 63) / 64;
  instance_.words = words;
  instance_.fixed = words > 1 ? words + 1 : words;
  size_of_.assign(individuals.all.size(), instance_.fixed);

  std::size_t total = 0;
  for (const Individual& individual : individuals.all) {
    total += static_cast<std::size_t>(individual.constituent_offsets[sentence + 1] -
                                      individual.constituent_offsets[sentence]);
  }
  const unsigned bits = static_cast<unsigned>(std::bit_width(2 * total));
  table_shift_ = 64 - bits;
  table_.assign(std::size_t{1} << bits, 0);

  for (std::uint32_t k = 0; k < individuals.all.size(); ++k) {
    const Individual& individual = individuals.all[k];
    if (!individual.has_say()) continue;
    const std::uint64_t* row = individual.bits.data() + individual.bit_offsets[sentence];
    const std::int64_t end = individual.constituent_offsets[sentence + 1];
    for (std::int64_t c = individual.constituent_offsets[sentence]; c < end; ++c, row += width_) {
      const std::uint32_t number = find_or_add(row);
      Proposal& proposal = proposals_[number];
      if (proposal.last_individual == k) {
        if (occurrences_.back().proposal == number) ++occurrences_.back().length;
        has_chains_ = true;
        continue;
      }
      proposal.last_individual = k;
      proposal.weight += proposal.discontinuous ? individual.discontinuous : individual.continuous;
      if (proposal.candidate >= 0) ++size_of_[k];
      occurrences_.push_back({number, k, c, 1});
    }
    if (!individual.is_trees()) {
      size_of_[k] = instance_.fixed + individual.sizes[static_cast<std::size_t>(sentence)];
      instance_.trees = false;
    }
  }
}

// Groups of equal sizes, and what every tree has in common with each group.
void HitCounter::make_groups(const Individuals& individuals) {
  instance_.sizes.clear();
  for (std::size_t k = 0; k < individuals.all.size(); ++k) {
    if (!individuals.all[k].has_say()) continue;
    if (instance_.sizes.empty() || instance_.sizes.back() != size_of_[k])
      instance_.sizes.push_back(size_of_[k]);
  }
  if (instance_.sizes.size() > 1) {
    std::sort(instance_.sizes.begin(), instance_.sizes.end());
    instance_.sizes.erase(std::unique(instance_.sizes.begin(), instance_.sizes.end()), instance_.sizes.end());
  }
  group_of_.assign(individuals.all.size(), 0);
  instance_.base.assign(instance_.groups(), 0);
  std::int64_t total = 0;
  for (std::size_t k = 0; k < individuals.all.size(); ++k) {
    const Individual& individual = individuals.all[k];
    if (!individual.has_say()) continue;
    if (instance_.groups() > 1) {
      group_of_[k] = static_cast<std::uint32_t>(
          std::lower_bound(instance_.sizes.begin(), instance_.sizes.end(), size_of_[k]) -
          instance_.sizes.begin());
    }
    const std::int64_t weight = individuals.fixed_weight(k);
    instance_.base[group_of_[k]] += weight * instance_.fixed;
    total += weight;
  }
  instance_.majority_total = individuals.typed || individuals.valued || !instance_.trees ? 0 : total;
}

void HitCounter::sum_hits(const Individuals& individuals) {
  const std::size_t groups = instance_.groups();
  instance_.hits.assign(proposal_of_.size() * groups, 0);
  if (groups == 1 && !individuals.valued) {
    for (std::size_t c = 0; c < proposal_of_.size(); ++c)
      instance_.hits[c] = proposals_[proposal_of_[c]].weight;
    return;
  }
  for (const Occurrence& occurrence : occurrences_) {
    const Proposal& proposal = proposals_[occurrence.proposal];
    if (proposal.candidate < 0) continue;
    const std::int64_t worth =
        individuals.worth(occurrence.individual, occurrence.constituent, proposal.discontinuous);
    instance_
        .hits[static_cast<std::size_t>(proposal.candidate) * groups + group_of_[occurrence.individual]] +=
        worth;
  }
}

}  // namespace treemean::averaging
