#include "averaging/batch.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace treemean::averaging {
namespace {

constexpr std::int64_t least_chunk = 16, largest_chunk = 256;

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
  from = {};  // so that the result is not held twice
}

void append(Averages& to, Averages& from) {
  append(to.constituent_counts, from.constituent_counts);
  append(to.bits, from.bits);
  append(to.labels, from.labels);
  append(to.functions, from.functions);
  append(to.support, from.support);
  append(to.support_labelled, from.support_labelled);
  append(to.objective, from.objective);
  append(to.average_f1, from.average_f1);
  append(to.upper_bound, from.upper_bound);
  append(to.optimal, from.optimal);
  append(to.nodes, from.nodes);
  append(to.candidates, from.candidates);
  append(to.seconds, from.seconds);
}

// Threads that are waited for, as std::jthread does, which not every standard library has yet.
class Helpers {
 public:
  explicit Helpers(std::size_t most) { threads_.reserve(most); }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  ~Helpers() {
    for (std::thread& thread : threads_) thread.join();
  }

  template <class Work>
  void start(const Work& work) {
    threads_.emplace_back(work);
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace

Averages average_all(const Individuals& individuals, const Options& options, unsigned threads,
                     StopSign& sign) {
  const std::int64_t sentences = individuals.sentences();
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  // Several chunks for every thread, in case some are hard.
  const std::int64_t chunk = std::clamp(sentences / (8 * std::int64_t{threads}), least_chunk, largest_chunk);
  const std::int64_t chunks = (sentences + chunk - 1) / chunk;
  threads = static_cast<unsigned>(std::min<std::int64_t>(threads, std::max<std::int64_t>(chunks, 1)));
  if (threads == 1) {
    Averages result;
    SentenceAverager averager(individuals, options, sign);
    for (std::int64_t s = 0; s < sentences; ++s) averager.add(s, result);
    return result;
  }

  std::vector<Averages> parts(static_cast<std::size_t>(chunks));
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::condition_variable ended;
  std::exception_ptr failure;
  int running = 0;
  const auto guarded = [&](auto&& action) {
    try {
      action();
    } catch (const Stopped&) {  // whoever raised the sign keeps the reason
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      sign.raise();
    }
  };
  const auto work = [&] {
    SentenceAverager averager(individuals, options, sign);
    for (std::int64_t c = next++; c < chunks; c = next++) {
      const std::int64_t end = std::min(sentences, (c + 1) * chunk);
      for (std::int64_t s = c * chunk; s < end; ++s) averager.add(s, parts[static_cast<std::size_t>(c)]);
    }
  };
  {
    Helpers helpers(threads - 1);
    const auto help = [&] {
      guarded(work);
      const std::lock_guard lock(mutex);
      --running;
      ended.notify_one();
    };
    const auto change_running = [&](int by) {
      const std::lock_guard lock(mutex);
      running += by;
    };
    for (unsigned t = 1; t < threads; ++t) {
      change_running(1);
      try {
        helpers.start(help);
      } catch (const std::system_error&) {  // no more threads to be had: those that run do all the work
        change_running(-1);
        break;
      }
    }
    guarded(work);
    // Helpers may still be busy with hard sentences; only this thread can ask whether to stop.
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, StopSign::patience, [&] { return running == 0; })) {
      lock.unlock();
      guarded([&] { sign.check(StopSign::Clock::now()); });
      lock.lock();
    }
  }
  if (failure) std::rethrow_exception(failure);
  Averages result;
  for (Averages& part : parts) append(result, part);
  return result;
}

}  // namespace treemean::averaging
