// Integers of 128 bits made of two halves, for compilers that have none. They behave as built-in ones do;
// made to be simple, not fast.
#pragma once

#include <bit>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

namespace treemean::averaging {

// Two's complement, like the unsigned integer of the same bits; only sign extension, order and division
// differ.
template <bool Signed>
class PortableInteger {
 public:
  constexpr PortableInteger() = default;
  template <std::integral T>
  // NOLINTNEXTLINE(*-explicit-constructor): as with built-in integers
  constexpr PortableInteger(T value) : low_(static_cast<std::uint64_t>(value)) {
    if constexpr (std::signed_integral<T>) high_ = value < 0 ? ~std::uint64_t{0} : 0;
  }
  constexpr explicit PortableInteger(PortableInteger<!Signed> other)
      : low_(other.low()), high_(other.high()) {}
  // Rounds towards zero.
  explicit PortableInteger(double value) {
    const double magnitude = std::trunc(std::abs(value));
    const double upper = std::floor(std::ldexp(magnitude, -64));
    high_ = static_cast<std::uint64_t>(upper);
    low_ = static_cast<std::uint64_t>(magnitude - std::ldexp(upper, 64));
    if (value < 0) *this = -*this;
  }

  constexpr std::uint64_t low() const { return low_; }
  constexpr std::uint64_t high() const { return high_; }

  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr explicit operator T() const {
    return static_cast<T>(low_);
  }
  // Rounds to the nearest number, of two equally near ones to the even one.
  template <std::floating_point T>
  explicit operator T() const {
    const PortableInteger<false> size = magnitude();
    T result = 0;
    if (std::numeric_limits<T>::digits >= 64 || size.high() == 0) {
      result = std::ldexp(static_cast<T>(size.high()), 64) + static_cast<T>(size.low());
    } else {
      // The 64 leading bits decide, and whether anything follows them.
      const int shift = static_cast<int>(std::bit_width(size.high()));
      const PortableInteger<false> leading = size >> shift;
      const bool more = (leading << shift) != size;
      result = std::ldexp(static_cast<T>(leading.low() | (more ? 1 : 0)), shift);
    }
    return negative() ? -result : result;
  }

  friend constexpr PortableInteger operator+(PortableInteger a, PortableInteger b) {
    const std::uint64_t low = a.low_ + b.low_;
    return {a.high_ + b.high_ + (low < a.low_ ? 1 : 0), low};
  }
  friend constexpr PortableInteger operator-(PortableInteger a, PortableInteger b) { return a + -b; }
  constexpr PortableInteger operator-() const { return {~high_ + (low_ == 0 ? 1 : 0), ~low_ + 1}; }

  friend constexpr PortableInteger operator*(PortableInteger a, PortableInteger b) {
    constexpr std::uint64_t half = 0xffffffff;
    const std::uint64_t a0 = a.low_ & half, a1 = a.low_ >> 32, b0 = b.low_ & half, b1 = b.low_ >> 32;
    const std::uint64_t middle = (a0 * b0 >> 32) + (a1 * b0 & half) + (a0 * b1 & half);
    const std::uint64_t carry = (a1 * b0 >> 32) + (a0 * b1 >> 32) + (middle >> 32);
    return {a1 * b1 + carry + a.high_ * b.low_ + a.low_ * b.high_, a.low_ * b.low_};
  }
  // Round towards zero, as built-in integers do; the divisor must not be zero.
  friend constexpr PortableInteger operator/(PortableInteger a, PortableInteger b) {
    const PortableInteger quotient(divide(a.magnitude(), b.magnitude()).first);
    return a.negative() != b.negative() ? -quotient : quotient;
  }
  friend constexpr PortableInteger operator%(PortableInteger a, PortableInteger b) {
    const PortableInteger rest(divide(a.magnitude(), b.magnitude()).second);
    return a.negative() ? -rest : rest;
  }

  // Shifts are by 0 to 127.
  friend constexpr PortableInteger operator<<(PortableInteger a, int by) {
    if (by == 0) return a;
    if (by >= 64) return {a.low_ << (by - 64), 0};
    return {a.high_ << by | a.low_ >> (64 - by), a.low_ << by};
  }
  friend constexpr PortableInteger operator>>(PortableInteger a, int by) {
    if (by == 0) return a;
    const std::uint64_t sign = a.negative() ? ~std::uint64_t{0} : 0;
    if (by == 64) return {sign, a.high_};
    if (by > 64) return {sign, a.high_ >> (by - 64) | sign << (128 - by)};
    return {a.high_ >> by | sign << (64 - by), a.low_ >> by | a.high_ << (64 - by)};
  }

  constexpr PortableInteger& operator+=(PortableInteger other) { return *this = *this + other; }
  constexpr PortableInteger& operator-=(PortableInteger other) { return *this = *this - other; }
  constexpr PortableInteger& operator*=(PortableInteger other) { return *this = *this * other; }
  constexpr PortableInteger& operator>>=(int by) { return *this = *this >> by; }

  friend constexpr bool operator==(PortableInteger a, PortableInteger b) {
    return a.high_ == b.high_ && a.low_ == b.low_;
  }
  friend constexpr std::strong_ordering operator<=>(PortableInteger a, PortableInteger b) {
    if (a.negative() != b.negative()) return b.negative() <=> a.negative();
    return a.high_ != b.high_ ? a.high_ <=> b.high_ : a.low_ <=> b.low_;
  }

 private:
  friend class PortableInteger<!Signed>;
  constexpr PortableInteger(std::uint64_t high, std::uint64_t low) : low_(low), high_(high) {}

  constexpr bool negative() const { return Signed && high_ >> 63 != 0; }
  constexpr PortableInteger<false> magnitude() const {
    return PortableInteger<false>(negative() ? -*this : *this);
  }

  using Unsigned = PortableInteger<false>;
  // Quotient and rest, by the way one learns at school, in base 2.
  static constexpr std::pair<Unsigned, Unsigned> divide(Unsigned a, Unsigned b) {
    if (a.high() == 0 && b.high() == 0) return {a.low() / b.low(), a.low() % b.low()};
    Unsigned quotient;
    for (int shift = width(a) - width(b); shift >= 0; --shift) {
      if (const Unsigned part = b << shift; part <= a) {
        a -= part;
        quotient += Unsigned(1) << shift;
      }
    }
    return {quotient, a};
  }
  static constexpr int width(Unsigned a) {
    return static_cast<int>(a.high() != 0 ? 64 + std::bit_width(a.high()) : std::bit_width(a.low()));
  }

  std::uint64_t low_ = 0, high_ = 0;
};

}  // namespace treemean::averaging
