// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Characters and numbers independent of the locale. <cctype>, printf and strtod depend on C's
// locale, and so do fmt's {:a} and the parser of nlohmann; std::from_chars and fmt's other formats
// do not.
#pragma once

#include <locale.h>  // NOLINT(modernize-deprecated-headers): newlocale is of POSIX
#include <string>

namespace tune::detail {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_upper_case(char c) noexcept { return c >= 'A' && c <= 'Z'; }
/// An ASCII letter.
constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || is_upper_case(c); }
constexpr bool is_letter_or_digit(char c) noexcept { return is_letter(c) || is_digit(c); }
/// A character of an identifier.
constexpr bool is_word(char c) noexcept { return is_letter_or_digit(c) || c == '_'; }

/// The lower-case form of an ASCII capital; any other character unchanged.
constexpr char lower_case(char c) noexcept {
  return is_upper_case(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
/// The capital form of an ASCII lower-case letter; any other character unchanged.
constexpr char upper_case(char c) noexcept {
  return is_letter(c) && !is_upper_case(c) ? static_cast<char>(c - 'a' + 'A') : c;
}

/// The number with three significant digits, and at least all before the point: "0.05", "12.3",
/// "1200".
std::string rounded_text(double number);

/// The number in hexadecimal digits, which are exact: "0x1.4p+0", and "inf", "-inf" or "nan". C,
/// C++ and OpenCL C can read it. Stored checksums depend on the form, so it never changes.
std::string exact_text(double number);

/// Sets C's own locale for this thread during its life, for code of other libraries that reads or
/// writes numbers.
class [[nodiscard]] plain_locale {
 public:
  plain_locale();
  plain_locale(const plain_locale&) = delete;
  plain_locale& operator=(const plain_locale&) = delete;
  ~plain_locale();

 private:
  locale_t plain_;
  locale_t before_;
};

}  // namespace tune::detail
