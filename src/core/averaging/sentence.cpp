#include "averaging/sentence.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

namespace treemean::averaging {
namespace {

// Bounds that are not exact are computed in floating point; this much more makes them safe.
constexpr double caution = 1e-12;

std::int64_t first_of(const std::uint64_t* words) {
  std::int64_t k = 0;
  while (words[k] == 0) ++k;
  return 64 * k + std::countr_zero(words[k]);
}

std::int64_t size_of(const std::uint64_t* words, std::size_t width) {
  std::int64_t size = 0;
  for (std::size_t k = 0; k < width; ++k) size += std::popcount(words[k]);
  return size;
}

}  // namespace

SentenceAverager::SentenceAverager(const Individuals& individuals, const Options& options, StopSign& sign)
    : individuals_(individuals), options_(options), sign_(sign), reader_(individuals) {
  double divisor = 0;
  for (const Individual& individual : individuals.all) {
    const auto weight = static_cast<double>(individual.continuous);
    total_weight_ += weight;
    if (individual.is_trees()) weight_of_trees_ += weight;
    total_discontinuous_ += static_cast<double>(individual.discontinuous);
    divisor +=
        individuals.valued ? static_cast<double>(std::llround(weight * individuals.value_scale)) : weight;
  }
  objective_factor_ =
      (options.goal == Goal::sum ? 1.0 : static_cast<double>(options.p + options.q)) / divisor;
}

void SentenceAverager::add(std::int64_t sentence, Averages& averages) {
  const auto start = Budget::Clock::now();
  sign_.check(start);
  Budget budget(options_.node_limit, options_.time_limit, sign_, start);
  outcome_.chosen.clear();
  if (individuals_.words(sentence) > 0) {
    solver_.run(count(sentence), options_.goal, budget, outcome_);
  } else {
    counter_.clear();
    outcome_ = {};
    // A tree without words agrees with itself.
    outcome_.value = {options_.goal == Goal::sum ? 0 : 1, 1};
  }
  const std::chrono::duration<double> seconds = Budget::Clock::now() - start;
  add_outcome(budget.nodes(), seconds.count(), averages);
}

const Instance& SentenceAverager::count(std::int64_t sentence) {
  if (!options_.labelled) {
    counter_.count(individuals_, sentence, options_.p, options_.q);
    counter_.prefer(individuals_, options_.ties);
    return counter_.instance();
  }
  counter_.find(individuals_, sentence);
  voices_.sort(counter_);
  labelled_.build(individuals_, sentence, counter_, voices_, reader_, options_);
  return labelled_.instance();
}

void SentenceAverager::add_outcome(std::int64_t nodes, double seconds, Averages& averages) {
  const std::int64_t words = counter_.instance().words;
  width_ = static_cast<std::size_t>(words + 63) / 64;
  if (options_.labelled && words > 0) {
    choose_labelled_members();
  } else {
    choose_members();
    choose_labels();
  }
  sort_members();
  if (options_.goal == Goal::binary) add_binary_members();
  write(averages);
  const double factor = words == 0 ? 1 : objective_factor_;
  const double objective = to_double(outcome_.value) * factor;
  const double bound = outcome_.upper * factor;
  const double upper = outcome_.optimal ? objective : std::max(objective, bound + std::abs(bound) * caution);
  const bool plain = words == 0 || (options_.goal != Goal::sum && options_.p == options_.q &&
                                    !individuals_.typed && !individuals_.valued);
  averages.objective.push_back(objective);
  averages.average_f1.push_back(plain ? objective : options_.labelled ? average_labelled_f1() : average_f1());
  averages.upper_bound.push_back(upper);
  averages.optimal.push_back(outcome_.optimal ? 1 : 0);
  averages.nodes.push_back(nodes);
  averages.candidates.push_back(outcome_.searched);
  averages.seconds.push_back(seconds);
}

void SentenceAverager::add_best(std::int64_t sentence, std::size_t limit, bool only_optimal,
                                Averages& averages) {
  Budget budget(options_.node_limit, options_.time_limit, sign_);
  for (Outcome& outcome : best_trees(count(sentence), limit, only_optimal, budget)) {
    outcome_ = std::move(outcome);
    add_outcome(budget.nodes(), 0, averages);
  }
}

std::vector<Count> SentenceAverager::count_best(std::int64_t sentence) {
  Budget budget(options_.node_limit, options_.time_limit, sign_);
  return count_best_trees(count(sentence), budget);
}

void SentenceAverager::add_member(std::size_t proposal, const Chain& chain) {
  const std::uint64_t* words = counter_.proposals()[proposal].words;
  const std::int32_t label =
      chain.length == 0 ? reader_.only_label() : reader_.label(chain, chain.length - 1);
  members_.push_back({words, first_of(words), size_of(words, width_), static_cast<std::int64_t>(proposal),
                      chain, label, false, false});
}

// The chosen candidates, the whole sentence, and single words that more than half of the weight marks as
// such.
void SentenceAverager::choose_members() {
  const auto& proposals = counter_.proposals();
  members_.clear();
  for (const std::uint32_t c : outcome_.chosen) add_member(counter_.proposal_of()[c], {});
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const bool frequent = 2 * static_cast<double>(proposals[i].weight) > weight_of_trees_;
    if (proposals[i].candidate == Proposal::whole ||
        (proposals[i].candidate == Proposal::single_word && frequent))
      add_member(i, {});
  }
}

// With labels, all that is in the tree was chosen.
void SentenceAverager::choose_labelled_members() {
  plain_labels_ = false;
  members_.clear();
  for (const std::uint32_t c : outcome_.chosen) add_member(labelled_.proposal(c), labelled_.chain(c));
}

bool SentenceAverager::is_discontinuous(std::int64_t proposal) const {
  return counter_.proposals()[static_cast<std::size_t>(proposal)].discontinuous;
}

// Every member gets the chain with most weight; mostly all agree.
void SentenceAverager::choose_labels() {
  plain_labels_ = reader_.only_label() >= 0 && !counter_.has_chains() && !reader_.has_functions();
  if (plain_labels_) return;
  voices_.sort(counter_);
  for (Member& member : members_) {
    const std::span<const Occurrence> voices = voters(member);
    member.chain = chain_of(voices.front());
    const bool agreed = std::all_of(voices.begin() + 1, voices.end(), [&](const Occurrence& voice) {
      return reader_.same(chain_of(voice), member.chain);
    });
    member.agreed = agreed;
    if (!agreed) member.chain = reader_.vote(voices, is_discontinuous(member.proposal));
    member.label = reader_.label(member.chain, member.chain.length - 1);
  }
}

std::span<const Occurrence> SentenceAverager::voters(const Member& member) const {
  const std::span<const Occurrence> voices = voices_.of(static_cast<std::size_t>(member.proposal));
  if (counter_.instance().trees) return voices;
  const auto is_tree = [&](const Occurrence& voice) { return individuals_.all[voice.individual].is_trees(); };
  const auto trees = std::find_if_not(voices.begin(), voices.end(), is_tree) - voices.begin();
  return trees == 0 ? voices : voices.first(static_cast<std::size_t>(trees));  // tables come last
}

void SentenceAverager::add_up_support() {
  const auto& proposals = counter_.proposals();
  support_.assign(proposals.size(), 0);
  if (counter_.instance().trees) {
    for (std::size_t i = 0; i < proposals.size(); ++i) support_[i] = static_cast<double>(proposals[i].weight);
    return;
  }
  for (const Occurrence& occurrence : counter_.occurrences()) {
    const Individual& one = individuals_.all[occurrence.individual];
    const std::int64_t weight =
        proposals[occurrence.proposal].discontinuous ? one.discontinuous : one.continuous;
    support_[occurrence.proposal] += static_cast<double>(weight) * one.share(occurrence.constituent);
  }
}

void SentenceAverager::sort_members() {
  std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
    return a.first != b.first ? a.first < b.first : a.size > b.size;
  });
}

void SentenceAverager::add_binary_members() {
  std::vector<const std::uint64_t*> sets;
  sets.reserve(members_.size());
  for (const Member& member : members_) sets.push_back(member.words);
  if (counter_.instance().words == 0) return;
  added_ = missing_sets(sets, counter_.instance().words, options_.direction);
  for (const AddedSet& set : added_) {
    const std::uint64_t* words = set.words.data();
    const std::int64_t proposal = counter_.find(words);
    members_.push_back({words,
                        first_of(words),
                        size_of(words, width_),
                        proposal,
                        {},
                        members_[set.parent].label,
                        true,
                        false});
    if (proposal < 0 || options_.labelled) continue;
    const std::int32_t candidate = counter_.proposals()[static_cast<std::size_t>(proposal)].candidate;
    outcome_.chosen.push_back(static_cast<std::uint32_t>(candidate));
  }
  sort_members();
  if (options_.labelled) return;  // what was added has a label that nobody else has, and was counted
  // Somebody may have proposed what was added, at a negative value.
  const Fraction before = outcome_.value;
  const Instance& instance = counter_.instance();
  const std::int64_t count = std::max<std::int64_t>(instance.words - 2, 0);
  const Scale scale = make_scale(instance, count, largest_scale_for(instance));
  outcome_.value = {base_score(instance, scale), scale.whole};
  for (const std::uint32_t c : outcome_.chosen) outcome_.value.numerator += score(instance, scale, c);
  if (compare(outcome_.value, before) < 0) {
    outcome_.upper = outcome_.optimal ? to_double(before) : outcome_.upper;
    outcome_.optimal = false;
  }
}

// The constituents of a member.
void SentenceAverager::describe(const Member& member) {
  if (member.added) {
    nodes_.assign(1, {-1 - member.label, 0, 0});
  } else if (plain_labels_) {
    const Proposal& proposal = counter_.proposals()[static_cast<std::size_t>(member.proposal)];
    nodes_.assign(1, {member.label, 0, proposal.weight});
  } else if (member.agreed && !reader_.has_functions()) {
    const Proposal& proposal = counter_.proposals()[static_cast<std::size_t>(member.proposal)];
    nodes_.clear();
    for (std::uint32_t i = 0; i < member.chain.length; ++i)
      nodes_.push_back({reader_.label(member.chain, i), 0, proposal.weight});
  } else {
    reader_.describe(member.chain, voters(member), is_discontinuous(member.proposal), nodes_);
  }
}

void SentenceAverager::write(Averages& averages) {
  std::size_t count = 0;
  add_up_support();
  for (const Member& member : members_) {
    describe(member);
    double weight = 0, total = 0;
    if (member.proposal >= 0) {
      const Proposal& proposal = counter_.proposals()[static_cast<std::size_t>(member.proposal)];
      total = proposal.discontinuous ? total_discontinuous_ : total_weight_;
      weight = support_[static_cast<std::size_t>(member.proposal)];
    }
    count += nodes_.size();
    for (const ChainNode& node : nodes_) {
      averages.bits.insert(averages.bits.end(), member.words, member.words + width_);
      averages.support.push_back(total > 0 ? weight / total : 0);
      averages.support_labelled.push_back(total > 0 ? static_cast<double>(node.weight) / total : 0);
      averages.labels.push_back(node.label);
      averages.functions.push_back(node.function);
    }
  }
  averages.constituent_counts.push_back(static_cast<std::int64_t>(count));
}

// The weighted mean F1, whatever β, typed weights and values say.
double SentenceAverager::average_f1() const {
  std::vector<double> common(individuals_.all.size(), static_cast<double>(counter_.instance().fixed));
  std::int64_t size = counter_.instance().fixed;
  std::vector<bool> chosen(counter_.proposals().size(), false);
  for (const Member& member : members_) {
    if (member.size == 1 || member.size == counter_.instance().words) continue;
    ++size;
    if (member.proposal >= 0) chosen[static_cast<std::size_t>(member.proposal)] = true;
  }
  for (const Occurrence& occurrence : counter_.occurrences()) {
    if (chosen[occurrence.proposal])
      common[occurrence.individual] += individuals_.all[occurrence.individual].share(occurrence.constituent);
  }
  double sum = 0;
  for (std::size_t k = 0; k < common.size(); ++k) {
    sum += 2.0 * static_cast<double>(individuals_.all[k].continuous) * common[k] /
           static_cast<double>(size + counter_.size_of(k));
  }
  return sum / total_weight_;
}

// The same for labelled constituents.
double SentenceAverager::average_labelled_f1() {
  const std::int64_t words = counter_.instance().words;
  std::vector<std::int64_t> common(individuals_.all.size(), words);
  std::int64_t size = words;
  for (const Member& member : members_) {
    size += member.added ? 1 : member.chain.length;
    if (member.added) continue;
    for (const Occurrence& voice : voices_.of(static_cast<std::size_t>(member.proposal)))
      common[voice.individual] += reader_.common(member.chain, chain_of(voice));
  }
  double sum = 0;
  for (std::size_t k = 0; k < common.size(); ++k) {
    sum += 2.0 * static_cast<double>(individuals_.all[k].continuous) * static_cast<double>(common[k]) /
           static_cast<double>(size + labelled_.size_of(k));
  }
  return sum / total_weight_;
}

}  // namespace treemean::averaging
