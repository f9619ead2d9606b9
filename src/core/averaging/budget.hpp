// What a search may spend on one sentence.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "averaging/stop_sign.hpp"

namespace treemean::averaging {

class Budget {
 public:
  using Clock = StopSign::Clock;

  // A limit of seconds that is not positive means no limit. The time runs from `start`. If the sign is
  // raised, whatever uses the budget throws.
  Budget(std::int64_t node_limit, double seconds, StopSign& sign, Clock::time_point start = Clock::now())
      : limit_(node_limit), timed_(seconds > 0), sign_(&sign) {
    if (timed_) {
      // Beyond a month the clock might overflow.
      const double bounded = seconds < 2.6e6 ? seconds : 2.6e6;
      deadline_ = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(bounded));
    }
  }

  // Counts a step whose cost grows with `size`; returns false when the budget is spent.
  bool take(std::size_t size = 0) {
    if (spent_) return false;
    ++nodes_;
    if (nodes_ > limit_) spent_ = true;
    return work(16 + size);
  }

  // Tells of work that is no step, in units of a few nanoseconds; returns false when the budget is spent.
  bool work(std::size_t amount) {
    until_look_ -= static_cast<std::int64_t>(amount);
    if (until_look_ < 0) {
      until_look_ = between_looks;
      const Clock::time_point now = Clock::now();
      sign_->check(now);
      if (timed_ && now > deadline_) spent_ = true;
    }
    return !spent_;
  }

  // A part of what is left, as a budget of its own; afterwards `settle` it.
  Budget part(std::int64_t nodes) const {
    Budget result = *this;
    result.nodes_ = 0;
    result.limit_ = nodes < remaining() ? nodes : remaining();
    return result;
  }
  void settle(const Budget& part) {
    nodes_ += part.nodes_;
    if (nodes_ > limit_ || (timed_ && Clock::now() > deadline_)) spent_ = true;
  }

  void exhaust() { spent_ = true; }
  bool spent() const { return spent_; }
  std::int64_t nodes() const { return nodes_; }
  std::int64_t remaining() const { return spent_ || nodes_ >= limit_ ? 0 : limit_ - nodes_; }

 private:
  // So much work goes by before the clock is read.
  static constexpr std::int64_t between_looks = 1024;

  std::int64_t limit_;
  std::int64_t nodes_ = 0;
  std::int64_t until_look_ = between_looks;
  Clock::time_point deadline_;
  bool timed_ = false;
  bool spent_ = false;
  StopSign* sign_;
};

}  // namespace treemean::averaging
