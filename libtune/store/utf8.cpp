// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/utf8.hpp"

#include <array>
#include <cstdint>

namespace tune::detail {
namespace {

// The smallest code point that needs 2, 3 or 4 bytes: a smaller one is overlong.
constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};

std::size_t length_from(unsigned char first) noexcept {
  if (first < 0x80) return 1;
  if ((first & 0xe0U) == 0xc0) return 2;
  if ((first & 0xf0U) == 0xe0) return 3;
  return (first & 0xf8U) == 0xf0 ? 4 : 0;
}

bool is_character(std::string_view bytes) noexcept {
  std::uint32_t code = static_cast<unsigned char>(bytes[0]) & (0xffU >> (bytes.size() + 1));
  for (const char c : bytes.substr(1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0U) != 0x80) return false;
    code = code << 6U | (byte & 0x3fU);
  }
  return code >= smallest[bytes.size()] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

int digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = length_from(static_cast<unsigned char>(text.front()));
    if (length == 0 || length > text.size()) return false;
    if (length > 1 && !is_character(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit_value(digits[i]);
    const int low = digit_value(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace tune::detail
