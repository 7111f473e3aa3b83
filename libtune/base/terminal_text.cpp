// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/terminal_text.hpp"

#include <algorithm>
#include <cstddef>

namespace tune::detail {
namespace {

/// The length in bytes of the UTF-8 character at the start of a text; 0 if it is invalid.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0x80   ? 1
                            : first < 0xc2 ? 0
                            : first < 0xe0 ? 2
                            : first < 0xf0 ? 3
                            : first < 0xf5 ? 4
                                           : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  const bool goes_on = std::ranges::all_of(text.substr(1, bytes - 1), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80;
  });
  return goes_on ? bytes : 0;
}

bool is_obeyed(std::string_view character, text_shape shape) noexcept {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 2 && first == 0xc2) {
    return static_cast<unsigned char>(character[1]) < 0xa0;
  }
  const bool is_layout = first == '\n' || first == '\t';
  return (first < 0x20 && !(is_layout && shape == text_shape::lines)) || first == 0x7f;
}

}  // namespace

std::string terminal_text(std::string_view text, text_shape shape) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(bytes, 1));
    const bool ends_line = shape == text_shape::lines && text.starts_with("\r\n");
    const bool is_plain = ends_line || (bytes > 0 && !is_obeyed(character, shape));
    shown += is_plain ? character : "?";
    text.remove_prefix(character.size());
  }
  return shown;
}

}  // namespace tune::detail
