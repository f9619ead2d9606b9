// What a search may spend on one sentence.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace treemean::averaging {

class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  // A limit of seconds that is not positive means no limit.
  Budget(std::int64_t node_limit, double seconds) : limit_(node_limit), timed_(seconds > 0) {
    if (timed_) {
      // Beyond a month the clock might overflow.
      const double bounded = seconds < 2.6e6 ? seconds : 2.6e6;
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(bounded));
    }
  }

  // Counts a step whose cost grows with `size`; returns false when the budget is spent.
  bool take(std::size_t size = 0) {
    if (spent_) return false;
    ++nodes_;
    if (nodes_ > limit_) spent_ = true;
    if (timed_ && !spent_) {
      until_look_ -= 1 + static_cast<std::int64_t>(size / 16);
      if (until_look_ < 0) {
        until_look_ = 64;
        spent_ = Clock::now() > deadline_;
      }
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
  std::int64_t limit_;
  std::int64_t nodes_ = 0;
  std::int64_t until_look_ = 64;
  Clock::time_point deadline_{};
  bool timed_ = false;
  bool spent_ = false;
};

}  // namespace treemean::averaging
