// Sets of fixed and of any width, against std::set.
#include <set>

#include "averaging/vertex_set.hpp"
#include "check.hpp"

namespace {

using treemean::averaging::DynamicSet;
using treemean::averaging::FixedSet;
using treemean::averaging::SetHash;
using treemean::testing::Random;
using Numbers = std::set<std::size_t>;

template <class Set>
Set made_of(const Numbers& numbers, std::size_t capacity) {
  Set set(capacity);
  for (const std::size_t number : numbers) set.insert(number);
  return set;
}

template <class Set>
Numbers numbers_of(const Set& set) {
  Numbers numbers;
  set.for_each([&](std::size_t number) { numbers.insert(number); });
  return numbers;
}

Numbers random_numbers(std::size_t capacity, Random& random) {
  Numbers numbers;
  for (std::uint64_t left = random.below(6); left > 0; --left) numbers.insert(random.below(capacity));
  return numbers;
}

template <class Set>
void check_against_std(std::size_t capacity) {
  Random random(capacity);
  for (int round = 0; round < 300; ++round) {
    const Numbers a = random_numbers(capacity, random), b = random_numbers(capacity, random);
    const auto x = made_of<Set>(a, capacity), y = made_of<Set>(b, capacity);
    Numbers both, only_a, either = a;
    for (const std::size_t n : a) (b.contains(n) ? both : only_a).insert(n);
    either.insert(b.begin(), b.end());
    Set joined = x;
    joined |= y;
    CHECK(numbers_of(x) == a);
    CHECK(numbers_of(x & y) == both);
    CHECK(numbers_of(x - y) == only_a);
    CHECK(numbers_of(joined) == either);
    CHECK(x.count() == a.size());
    CHECK(x.empty() == a.empty());
    CHECK(a.empty() || x.first() == *a.begin());
    CHECK(x.intersects(y) == !both.empty());
    CHECK(x.subset_of(y) == only_a.empty());
    CHECK((x == y) == (a == b));
    CHECK(a != b || SetHash()(x) == SetHash()(y));
    if (a.size() == b.size() && a != b) CHECK(x.precedes(y) == (a < b));
    Set fewer = x;
    for (const std::size_t n : b) {
      CHECK(x.contains(n) == a.contains(n));
      fewer.erase(n);
    }
    CHECK(fewer == x - y);
  }
}

TEST(sets_of_one_word) { check_against_std<FixedSet<1>>(64); }
TEST(sets_of_two_words) { check_against_std<FixedSet<2>>(128); }
TEST(sets_of_any_width) {
  for (const std::size_t capacity : {1, 63, 64, 65, 200}) check_against_std<DynamicSet>(capacity);
}
TEST(sets_of_nothing) { CHECK(DynamicSet(0).empty() && DynamicSet(0).count() == 0); }

}  // namespace
