// A small frame for tests: TEST(name) { CHECK(what holds); }, and a `main` that runs them all.
#pragma once

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace treemean::testing {

struct Test {
  const char* name;
  void (*run)();
};

inline std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}

struct Registration {
  Registration(const char* name, void (*run)()) { all_tests().push_back({name, run}); }
};

// Ends the test in which something does not hold.
inline void check(bool holds, const char* what, const char* file, int line) {
  if (!holds) throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

// Numbers that are the same everywhere; the standard's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t bits() { return engine_(); }
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace treemean::testing

#define TEST(name)                                                                  \
  static void test_##name();                                                        \
  static const treemean::testing::Registration register_##name{#name, test_##name}; \
  static void test_##name()
#define CHECK(...) treemean::testing::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_THROWS(type, ...)                                                          \
  do {                                                                                   \
    bool thrown = false;                                                                 \
    try {                                                                                \
      static_cast<void>(__VA_ARGS__);                                                    \
    } catch (const type&) {                                                              \
      thrown = true;                                                                     \
    }                                                                                    \
    treemean::testing::check(thrown, #__VA_ARGS__ " throws " #type, __FILE__, __LINE__); \
  } while (false)
