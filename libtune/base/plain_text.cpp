// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/plain_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace tune::detail {

std::string exact_text(double number) {
  std::array<char, 32> digits{};  // the longest is "0.0000000000001p-1022"
  const bool is_negative = std::signbit(number);
  const auto [end, failure] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                            std::abs(number), std::chars_format::hex);
  static_cast<void>(failure);
  return (is_negative ? "-" : "") + std::string(std::isfinite(number) ? "0x" : "") +
         std::string(digits.data(), end);
}

// Null, where there is no memory for it, leaves the locale.
plain_locale::plain_locale()
    : plain_(::newlocale(LC_ALL_MASK, "C", nullptr)), before_(::uselocale(plain_)) {}

plain_locale::~plain_locale() {
  ::uselocale(before_);
  if (plain_ != nullptr) ::freelocale(plain_);
}

}  // namespace tune::detail
