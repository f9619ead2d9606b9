#include "averaging/additive.hpp"

#include <algorithm>

namespace treemean::averaging {

void AdditiveSearch::run_sum(const Instance& instance, Budget& budget, Outcome& outcome) {
  const Scale plain{1, true, std::vector<Int128>(instance.groups(), 1)};
  run(instance, plain, 0, budget, outcome);
}

void AdditiveSearch::run_binary(const Instance& instance, Budget& budget, Outcome& outcome) {
  const std::int64_t members = std::max<std::int64_t>(instance.words - 2, 0);
  const Scale scale = make_scale(instance, members, largest_scale_for(instance));
  run(instance, scale, base_score(instance, scale), budget, outcome);
}

void AdditiveSearch::run(const Instance& instance, const Scale& scale, Int128 base, Budget& budget,
                         Outcome& outcome) {
  kept_.clear();
  for (std::uint32_t c = 0; c < instance.candidates.size(); ++c) {
    if (score(instance, scale, c) > 0 || instance.is_whole(c)) kept_.push_back(c);
  }
  sort_canonically(instance, kept_);
  weights_.clear();
  for (const std::uint32_t c : kept_) weights_.push_back(score(instance, scale, c));
  packing_.build(instance, kept_, budget);
  packing_.solve(weights_, budget, true, packed_);
  outcome.searched = static_cast<std::int64_t>(kept_.size());
  outcome.optimal = packed_.exact();
  outcome.rounded = false;
  outcome.value = {base + packed_.value, scale.whole};
  outcome.upper = to_double({base + packed_.upper, scale.whole});
  if (const double rounding = scale.exact ? 0 : visible_rounding(instance, scale.whole, outcome.value);
      rounding > 0) {
    outcome.upper += 2 * rounding;
    outcome.rounded = outcome.optimal;
    outcome.optimal = false;
  }
  outcome.chosen.clear();
  for (const std::uint32_t i : packed_.chosen) outcome.chosen.push_back(kept_[i]);
  std::sort(outcome.chosen.begin(), outcome.chosen.end());
}

}  // namespace treemean::averaging
