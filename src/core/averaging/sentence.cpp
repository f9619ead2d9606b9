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

// The label that all constituents of unlabelled trees have; -1 if there are several.
std::int32_t only_label_of(const Individuals& individuals) {
  std::int32_t only = -1;
  for (const Individual& individual : individuals.all) {
    for (const std::int32_t rank : individual.label_ranks) {
      if (only >= 0 && rank != only) return -1;
      only = rank;
    }
  }
  return only;
}

}  // namespace

SentenceAverager::SentenceAverager(const Individuals& individuals, const Options& options, StopSign& sign)
    : individuals_(individuals), options_(options), sign_(sign) {
  double divisor = 0;
  for (const Individual& individual : individuals.all) {
    const auto weight = static_cast<double>(individual.continuous);
    total_weight_ += weight;
    total_discontinuous_ += static_cast<double>(individual.discontinuous);
    divisor += individuals.valued ? static_cast<double>(std::llround(weight * individuals.value_scale)) : weight;
  }
  only_label_ = only_label_of(individuals);
  objective_factor_ = (options.goal == Goal::sum ? 1.0 : static_cast<double>(options.p + options.q)) / divisor;
}

void SentenceAverager::add(std::int64_t sentence, Averages& averages) {
  const auto start = Budget::Clock::now();
  sign_.check(start);
  Budget budget(options_.node_limit, options_.time_limit, sign_, start);
  outcome_.chosen.clear();
  if (individuals_.words(sentence) > 0) {
    counter_.count(individuals_, sentence, options_.p, options_.q);
    solver_.run(counter_.instance(), options_.goal, budget, outcome_);
  } else {
    counter_.clear();
    outcome_ = {};
    // A tree without words agrees with itself.
    outcome_.value = {options_.goal == Goal::sum ? 0 : 1, 1};
  }
  const std::chrono::duration<double> seconds = Budget::Clock::now() - start;
  add_outcome(budget.nodes(), seconds.count(), averages);
}

void SentenceAverager::add_outcome(std::int64_t nodes, double seconds, Averages& averages) {
  const std::int64_t words = counter_.instance().words;
  width_ = static_cast<std::size_t>(words + 63) / 64;
  choose_members();
  choose_labels();
  sort_members();
  if (options_.goal == Goal::binary) add_binary_members();
  write(averages);
  const double factor = words == 0 ? 1 : objective_factor_;
  const double objective = to_double(outcome_.value) * factor;
  const double bound = outcome_.upper * factor;
  const double upper = outcome_.optimal ? objective : std::max(objective, bound + std::abs(bound) * caution);
  const bool plain = words == 0 || (options_.goal != Goal::sum && options_.p == options_.q && !individuals_.typed &&
                                    !individuals_.valued);
  averages.objective.push_back(objective);
  averages.average_f1.push_back(plain ? objective : average_f1());
  averages.upper_bound.push_back(upper);
  averages.optimal.push_back(outcome_.optimal ? 1 : 0);
  averages.nodes.push_back(nodes);
  averages.candidates.push_back(outcome_.searched);
  averages.seconds.push_back(seconds);
}

void SentenceAverager::add_best(std::int64_t sentence, std::size_t limit, bool only_optimal, Averages& averages) {
  Budget budget(options_.node_limit, options_.time_limit, sign_);
  counter_.count(individuals_, sentence, options_.p, options_.q);
  for (Outcome& outcome : best_trees(counter_.instance(), limit, only_optimal, budget)) {
    outcome_ = std::move(outcome);
    add_outcome(budget.nodes(), 0, averages);
  }
}

std::vector<Count> SentenceAverager::count_best(std::int64_t sentence) {
  Budget budget(options_.node_limit, options_.time_limit, sign_);
  counter_.count(individuals_, sentence, options_.p, options_.q);
  return count_best_trees(counter_.instance(), budget);
}

// The chosen candidates, the whole sentence, and single words that more than half of the weight marks as such.
void SentenceAverager::choose_members() {
  const auto& proposals = counter_.proposals();
  members_.clear();
  member_of_.assign(proposals.size(), -1);
  const auto add = [&](std::size_t proposal) {
    const std::uint64_t* words = proposals[proposal].words;
    member_of_[proposal] = static_cast<std::int64_t>(members_.size());
    members_.push_back(
        {words, first_of(words), size_of(words, width_), static_cast<std::int64_t>(proposal), only_label_, false});
  };
  for (const std::uint32_t c : outcome_.chosen) add(counter_.proposal_of()[c]);
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const bool frequent = 2 * static_cast<double>(proposals[i].weight) > total_weight_;
    if (proposals[i].candidate == Proposal::whole || (proposals[i].candidate == Proposal::single_word && frequent))
      add(i);
  }
}

std::int32_t SentenceAverager::label_of(const Occurrence& occurrence) const {
  const Individual& individual = individuals_.all[occurrence.individual];
  const std::int32_t code = individual.labels[static_cast<std::size_t>(occurrence.constituent)];
  return individual.label_ranks[static_cast<std::size_t>(code)];
}

// Of every member the label with most weight, of equal ones the alphabetically first.
void SentenceAverager::choose_labels() {
  if (only_label_ != no_label) return;
  // Mostly all agree.
  bool disputed = false;
  for (const Occurrence& occurrence : counter_.occurrences()) {
    const std::int64_t member = member_of_[occurrence.proposal];
    if (member < 0) continue;
    std::int32_t& label = members_[static_cast<std::size_t>(member)].label;
    const std::int32_t rank = label_of(occurrence);
    if (label == no_label) {
      label = rank;
    } else if (label != rank) {
      label = disputed_label;
      disputed = true;
    }
  }
  if (disputed) settle_disputed_labels();
}

void SentenceAverager::settle_disputed_labels() {
  if (label_weights_.size() < members_.size()) label_weights_.resize(members_.size());
  for (std::size_t m = 0; m < members_.size(); ++m) label_weights_[m].clear();
  for (const Occurrence& occurrence : counter_.occurrences()) {
    const std::int64_t member = member_of_[occurrence.proposal];
    if (member < 0 || members_[static_cast<std::size_t>(member)].label != disputed_label) continue;
    const Individual& individual = individuals_.all[occurrence.individual];
    const std::int32_t rank = label_of(occurrence);
    const bool gap = counter_.proposals()[occurrence.proposal].discontinuous;
    const std::int64_t weight = gap ? individual.discontinuous : individual.continuous;
    auto& weights = label_weights_[static_cast<std::size_t>(member)];
    const auto known =
        std::find_if(weights.begin(), weights.end(), [&](const LabelWeight& w) { return w.rank == rank; });
    if (known == weights.end()) {
      weights.push_back({rank, weight});
    } else {
      known->weight += weight;
    }
  }
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (members_[m].label != disputed_label) continue;
    const auto& weights = label_weights_[m];
    const auto best = std::min_element(weights.begin(), weights.end(), [](const LabelWeight& a, const LabelWeight& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.rank < b.rank;
    });
    members_[m].label = best->rank;
  }
}

void SentenceAverager::sort_members() {
  std::sort(members_.begin(), members_.end(),
            [](const Member& a, const Member& b) { return a.first != b.first ? a.first < b.first : a.size > b.size; });
}

void SentenceAverager::add_binary_members() {
  std::vector<const std::uint64_t*> sets;
  for (const Member& member : members_) sets.push_back(member.words);
  if (counter_.instance().words == 0) return;
  added_ = missing_sets(sets, counter_.instance().words, options_.direction);
  for (const AddedSet& set : added_) {
    const std::uint64_t* words = set.words.data();
    const std::int64_t proposal = counter_.find(words);
    members_.push_back({words, first_of(words), size_of(words, width_), proposal, members_[set.parent].label, true});
    if (proposal < 0) continue;
    const std::int32_t candidate = counter_.proposals()[static_cast<std::size_t>(proposal)].candidate;
    outcome_.chosen.push_back(static_cast<std::uint32_t>(candidate));
  }
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
  sort_members();
}

void SentenceAverager::write(Averages& averages) const {
  averages.constituent_counts.push_back(static_cast<std::int64_t>(members_.size()));
  for (const Member& member : members_) {
    averages.bits.insert(averages.bits.end(), member.words, member.words + width_);
    double support = 0;
    if (member.proposal >= 0) {
      const Proposal& proposal = counter_.proposals()[static_cast<std::size_t>(member.proposal)];
      const double total = proposal.discontinuous ? total_discontinuous_ : total_weight_;
      support = total > 0 ? static_cast<double>(proposal.weight) / total : 0;
    }
    averages.support.push_back(support);
    averages.labels.push_back(member.added ? -1 - member.label : member.label);
  }
}

// The weighted mean F1, whatever β, typed weights and values say.
double SentenceAverager::average_f1() const {
  std::vector<std::int64_t> common(individuals_.all.size(), counter_.instance().fixed);
  std::int64_t size = counter_.instance().fixed;
  std::vector<bool> chosen(counter_.proposals().size(), false);
  for (const Member& member : members_) {
    if (member.size == 1 || member.size == counter_.instance().words) continue;
    ++size;
    if (member.proposal >= 0) chosen[static_cast<std::size_t>(member.proposal)] = true;
  }
  for (const Occurrence& occurrence : counter_.occurrences()) {
    if (chosen[occurrence.proposal]) ++common[occurrence.individual];
  }
  double sum = 0;
  for (std::size_t k = 0; k < common.size(); ++k) {
    sum += 2.0 * static_cast<double>(individuals_.all[k].continuous) * static_cast<double>(common[k]) /
           static_cast<double>(size + counter_.size_of(k));
  }
  return sum / total_weight_;
}

}  // namespace treemean::averaging
