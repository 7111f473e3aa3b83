// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A number of IEEE 754's binary16, as arrays hold it: storage that converts, without arithmetic of
/// its own. Conversion from float rounds to the nearest, ties to even; what is too large becomes
/// infinity, and NaN stays NaN.
class float16 {
 public:
  /// Zero.
  constexpr float16() noexcept = default;
  /// Rounds to the nearest, ties to even.
  explicit float16(float value) noexcept;
  /// The same number; exact.
  explicit operator float() const noexcept;

  /// The number with this representation: from the highest bit 1 of sign, 5 of exponent, 10 of
  /// mantissa.
  static constexpr float16 from_bits(std::uint16_t bits) noexcept {
    float16 made;
    made.bits_ = bits;
    return made;
  }
  /// The representation, as from_bits takes it.
  constexpr std::uint16_t bits() const noexcept { return bits_; }

  /// As numbers: NaN equals nothing, and both zeros are equal.
  friend bool operator==(float16 a, float16 b) noexcept {
    return static_cast<float>(a) == static_cast<float>(b);
  }

 private:
  std::uint16_t bits_ = 0;
};

/// The upper half of a float: its range with eight bits of precision. Storage that converts, as
/// float16 is.
class bfloat16 {
 public:
  /// Zero.
  constexpr bfloat16() noexcept = default;
  /// Rounds to the nearest, ties to even.
  explicit bfloat16(float value) noexcept;
  /// The same number; exact.
  explicit operator float() const noexcept;

  /// The number with this representation: from the highest bit 1 of sign, 8 of exponent, 7 of
  /// mantissa.
  static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 made;
    made.bits_ = bits;
    return made;
  }
  /// The representation, as from_bits takes it.
  constexpr std::uint16_t bits() const noexcept { return bits_; }

  /// As numbers: NaN equals nothing, and both zeros are equal.
  friend bool operator==(bfloat16 a, bfloat16 b) noexcept {
    return static_cast<float>(a) == static_cast<float>(b);
  }

 private:
  std::uint16_t bits_ = 0;
};

}  // namespace tune
