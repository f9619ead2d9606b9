// Integers of any size, where 128 bits are not enough. Made to be simple, not fast.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "averaging/integers.hpp"

namespace treemean::averaging {

class BigInteger {
 public:
  BigInteger() = default;
  // NOLINTBEGIN(*-explicit-constructor): any integer is one of these
  template <std::integral T>
  BigInteger(T value) : BigInteger(Int128{value}) {}
  BigInteger(Int128 value) : negative_(value < 0) {
    auto magnitude = static_cast<Uint128>(value);
    if (negative_) magnitude = 0 - magnitude;
    for (; magnitude != 0; magnitude >>= 32) digits_.push_back(static_cast<std::uint32_t>(magnitude));
  }
  // NOLINTEND(*-explicit-constructor)

  BigInteger& operator+=(const BigInteger& other) {
    if (negative_ == other.negative_) {
      add_magnitude(other.digits_);
    } else if (compare_magnitudes(digits_, other.digits_) >= 0) {
      subtract_magnitude(other.digits_);
    } else {
      BigInteger larger = other;
      larger.subtract_magnitude(digits_);
      *this = std::move(larger);
    }
    if (digits_.empty()) negative_ = false;
    return *this;
  }
  friend BigInteger operator+(BigInteger a, const BigInteger& b) { return a += b; }

  friend BigInteger operator*(const BigInteger& a, const BigInteger& b) {
    BigInteger result;
    if (a.digits_.empty() || b.digits_.empty()) return result;
    result.negative_ = a.negative_ != b.negative_;
    result.digits_.assign(a.digits_.size() + b.digits_.size(), 0);
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; j < b.digits_.size(); ++j) {
        carry += std::uint64_t{a.digits_[i]} * b.digits_[j] + result.digits_[i + j];
        result.digits_[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
      result.digits_[i + b.digits_.size()] = static_cast<std::uint32_t>(carry);
    }
    result.trim();
    return result;
  }

  friend std::strong_ordering operator<=>(const BigInteger& a, const BigInteger& b) {
    if (a.negative_ != b.negative_) return b.negative_ <=> a.negative_;
    return a.negative_ ? compare_magnitudes(b.digits_, a.digits_) : compare_magnitudes(a.digits_, b.digits_);
  }
  friend bool operator==(const BigInteger& a, const BigInteger& b) = default;

 private:
  using Digits = std::vector<std::uint32_t>;  // the lowest first, the highest not zero

  static std::strong_ordering compare_magnitudes(const Digits& a, const Digits& b) {
    if (a.size() != b.size()) return a.size() <=> b.size();
    for (std::size_t i = a.size(); i-- > 0;) {
      if (a[i] != b[i]) return a[i] <=> b[i];
    }
    return std::strong_ordering::equal;
  }

  void add_magnitude(const Digits& other) {
    if (digits_.size() < other.size()) digits_.resize(other.size(), 0);
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      carry += std::uint64_t{digits_[i]} + (i < other.size() ? other[i] : 0);
      digits_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) digits_.push_back(static_cast<std::uint32_t>(carry));
  }

  // The other one must not be larger.
  void subtract_magnitude(const Digits& other) {
    std::int64_t carry = 0;
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      carry += std::int64_t{digits_[i]} - (i < other.size() ? std::int64_t{other[i]} : 0);
      digits_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    trim();
  }

  void trim() {
    while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
  }

  bool negative_ = false;
  Digits digits_;
};

}  // namespace treemean::averaging
