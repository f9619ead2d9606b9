// How work on several threads learns that it shall end: somebody pressed Ctrl-C, or another thread failed.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace treemean::averaging {

// Thrown where work ends because another thread said so.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};

class StopSign {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration patience = std::chrono::milliseconds(50);

  // `ask` throws if the work shall end. Only the thread that makes the sign calls it, once in a while.
  explicit StopSign(std::function<void()> ask) : ask_(std::move(ask)) {}

  void raise() { raised_.store(true, std::memory_order_relaxed); }

  // Throws if the work shall end. Cheap enough to be called every few microseconds.
  void check(Clock::time_point now) {
    if (raised_.load(std::memory_order_relaxed)) throw Stopped{};
    if (std::this_thread::get_id() == owner_ && now >= next_) {
      next_ = now + patience;
      ask_();
    }
  }

 private:
  std::function<void()> ask_;
  std::thread::id owner_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + patience;
  std::atomic<bool> raised_{false};
};

}  // namespace treemean::averaging
