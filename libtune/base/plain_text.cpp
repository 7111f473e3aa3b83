// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/plain_text.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>

namespace tune::detail {
namespace {

// fmt's results differ by the standard library: 0x0.8p-1022 with GCC 12, 0x1p-1023 with GCC 13.
std::string subnormal_text(double number) {
  std::string digits = fmt::format("{:013x}", std::bit_cast<std::uint64_t>(std::abs(number)));
  digits.resize(digits.find_last_not_of('0') + 1);
  return (std::signbit(number) ? "-0x0." : "0x0.") + digits + "p-1022";
}

}  // namespace

std::string rounded_text(double number) {
  return std::abs(number) < 999.5 ? fmt::format("{:.3g}", number) : fmt::format("{:.0f}", number);
}

std::string exact_text(double number) {
  if (std::fpclassify(number) == FP_SUBNORMAL) return subnormal_text(number);
  std::array<char, 32> digits{};  // the longest is "1.fffffffffffffp+1023"
  const bool is_negative = std::signbit(number);
  const auto [end, failure] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                            std::abs(number), std::chars_format::hex);
  static_cast<void>(failure);
  return (is_negative ? "-" : "") + std::string(std::isfinite(number) ? "0x" : "") +
         std::string(digits.data(), end);
}

// newlocale returns null if there is no memory; the thread then keeps its locale.
plain_locale::plain_locale()
    : plain_(::newlocale(LC_ALL_MASK, "C", nullptr)), before_(::uselocale(plain_)) {}

plain_locale::~plain_locale() {
  ::uselocale(before_);
  if (plain_ != nullptr) ::freelocale(plain_);
}

}  // namespace tune::detail
