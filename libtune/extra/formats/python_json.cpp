// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/python_json.hpp"

#include <array>
#include <string>
#include <utility>

namespace tune::detail {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> words{
    {{"NaN", R"("nan")"}, {"-Infinity", R"("-inf")"}, {"Infinity", R"("inf")"}}};

/// The length of a character in UTF-8 at a place; 0 for a byte that begins none.
std::size_t length_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  for (std::size_t i = 1; i < length; ++i) {
    const bool follows =
        at + i < text.size() && (static_cast<unsigned char>(text[at + i]) & 0xC0U) == 0x80U;
    if (!follows) return 0;
  }
  return length;
}

std::string as_utf8(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_at(text, at);
    made += length == 0 ? std::string() : std::string(text.substr(at, length));
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text[at]);
      made += static_cast<char>(0xC0U | (byte >> 6U));
      made += static_cast<char>(0x80U | (byte & 0x3FU));
    }
    at += length == 0 ? 1 : length;
  }
  return made;
}

/// Puts quotes around the words for numbers that JSON does not have.
std::string with_quoted_words(std::string_view text) {
  std::string made;
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    if (is_quoted && text[at] == '\\') {
      made += text.substr(at, 2);
      at += 2;
      continue;
    }
    if (text[at] == '"') is_quoted = !is_quoted;
    std::size_t length = 1;
    std::string_view added = text.substr(at, 1);
    for (const auto& [word, quoted] : words) {
      if (is_quoted || !text.substr(at).starts_with(word)) continue;
      length = word.size();
      added = quoted;
      break;
    }
    made += added;
    at += length;
  }
  return made;
}

}  // namespace

input parse_python_json(std::string_view text) {
  input document = parse_input(text);
  if (!document.is_discarded()) return document;
  return parse_input(with_quoted_words(as_utf8(text)));
}

std::optional<double> real_in(const input& item) {
  if (item.is_number()) return item.get<double>();
  return item.is_string() ? word_for_real(item) : std::nullopt;
}

}  // namespace tune::detail
