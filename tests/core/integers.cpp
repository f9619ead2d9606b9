// 128-bit integers, our own and the compiler's; fractions; integers of any size.
#include "averaging/integers.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "averaging/big_integer.hpp"
#include "averaging/portable_integer.hpp"
#include "check.hpp"

namespace {

using namespace treemean::averaging;
using treemean::testing::Random;
using Signed = PortableInteger<true>;
using Unsigned = PortableInteger<false>;

// Numbers of all sizes, and those beside powers of two.
Int128 random_integer(Random& random, int bits) {
  const int length = static_cast<int>(random.below(static_cast<std::uint64_t>(bits) + 1));
  Int128 value = 0;
  if (length > 0) {
    value = (static_cast<Int128>(random.bits() >> 2) << 64) + static_cast<Int128>(random.bits());
    value = random.below(2) != 0 ? value >> (126 - length) : (Int128{1} << (length - 1)) - 1;
  }
  return random.below(2) != 0 ? -value : value;
}

#if defined(__SIZEOF_INT128__) && !defined(TREEMEAN_PORTABLE_INTEGERS)

Signed portable(Int128 value) {
  return (Signed(static_cast<std::int64_t>(value >> 64)) << 64) + Signed(static_cast<std::uint64_t>(value));
}
Unsigned portable(Uint128 value) { return Unsigned(portable(static_cast<Int128>(value))); }

TEST(our_integers_are_those_of_the_compiler) {
  Random random(1);
  for (int round = 0; round < 20'000; ++round) {
    const Int128 a = random_integer(random, 126), b = random_integer(random, 126);
    const auto c = static_cast<Uint128>(a), d = static_cast<Uint128>(b);
    const Signed x = portable(a), y = portable(b);
    const Unsigned z = portable(c), w = portable(d);
    const int shift = static_cast<int>(random.below(128));
    CHECK((x + y) == portable(a + b));
    CHECK((x - y) == portable(a - b));
    CHECK((z * w) == portable(c * d));
    CHECK(Unsigned(x * y) == portable(c * d));
    CHECK(-x == portable(-a));
    CHECK((x <=> y) == (a <=> b));
    CHECK((z <=> w) == (c <=> d));
    CHECK((x >> shift) == portable(a >> shift));
    CHECK((z >> shift) == portable(c >> shift));
    CHECK((z << shift) == portable(c << shift));
    if (b != 0) {
      CHECK(x / y == portable(a / b));
      CHECK(x % y == portable(a % b));
      CHECK(z / w == portable(c / d));
      CHECK(z % w == portable(c % d));
    }
    CHECK(static_cast<std::int64_t>(x) == static_cast<std::int64_t>(a));
    CHECK(static_cast<std::uint32_t>(z) == static_cast<std::uint32_t>(c));
    CHECK(static_cast<double>(x) == static_cast<double>(a));
    CHECK(static_cast<double>(z) == static_cast<double>(c));
    CHECK(static_cast<long double>(x) == static_cast<long double>(a));
    const double real = static_cast<double>(a) / 3;
    CHECK(Signed(real) == portable(static_cast<Int128>(real)));
  }
}

#endif

TEST(our_integers_at_their_limits) {
  const Signed least = Signed(1) << 127, most = least - 1;
  CHECK(least < 0 && most > 0 && least + most == -1);
  CHECK(-most - 1 == least);
  CHECK(static_cast<double>(least) == -0x1p127);
  CHECK(most / most == 1 && least / most == -1 && least % most == -1);
  CHECK(Unsigned(least) > Unsigned(most));
  CHECK(Signed(-0.9) == 0 && Signed(-1e30) == -Signed(1e30));
}

TEST(bit_lengths_and_floors) {
  CHECK(bit_length(0) == 0 && bit_length(1) == 1 && bit_length(-8) == 4);
  for (int bits = 1; bits < 127; ++bits) CHECK(bit_length((Int128{1} << bits) - 1) == bits);
  CHECK(floor_division(7, 2) == 3 && floor_division(-7, 2) == -4 && floor_division(-6, 2) == -3);
}

TEST(fractions_are_compared_without_rounding) {
  Random random(2);
  for (int round = 0; round < 5'000; ++round) {
    Fraction a{random_integer(random, 126), random_integer(random, 126)};
    Fraction b{random_integer(random, 126), random_integer(random, 126)};
    if (a.denominator <= 0) a.denominator = 1 - a.denominator;
    if (b.denominator <= 0) b.denominator = 1 - b.denominator;
    if (round % 3 == 0) b = {a.numerator + (round % 2), a.denominator};
    const BigInteger left = BigInteger(a.numerator) * b.denominator,
                     right = BigInteger(b.numerator) * a.denominator;
    CHECK(compare(a, b) == (left <=> right));
    CHECK(compare(a, a) == 0);
  }
  CHECK(to_double({1, 3}) == 1.0 / 3.0);
}

TEST(integers_of_any_size) {
  Random random(3);
  for (int round = 0; round < 5'000; ++round) {
    const Int128 a = random_integer(random, 60), b = random_integer(random, 60),
                 c = random_integer(random, 120);
    CHECK(BigInteger(a) + BigInteger(b) == BigInteger(a + b));
    CHECK(BigInteger(a) * BigInteger(b) == BigInteger(a * b));
    CHECK((BigInteger(a) <=> BigInteger(b)) == (a <=> b));
    // Beyond 128 bits by what must hold of them.
    const BigInteger x = BigInteger(c) * c * c, y = BigInteger(a) * c;
    CHECK((x + y) * (x + y) == x * x + BigInteger(2) * x * y + y * y);
    CHECK(x + BigInteger(-1) * x == BigInteger());
    CHECK(x + 1 > x);
  }
}

}  // namespace
