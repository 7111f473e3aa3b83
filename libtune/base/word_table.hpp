// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "libtune/base/environment.hpp"

namespace tune::detail {

/// The words for an enumeration that counts from zero, in its order: one table for writing and
/// reading. If the words are the identifiers, use LIBTUNE_ENUM.
template <class Enum, std::size_t Count>
struct word_table {
  std::array<const char*, Count> words;

  constexpr const char* word(Enum value) const noexcept {
    return words[static_cast<std::size_t>(value)];
  }

  /// The value of a word; empty for any other text.
  constexpr std::optional<Enum> find(std::string_view text) const noexcept {
    for (std::size_t i = 0; i < Count; ++i) {
      if (words[i] == text) return static_cast<Enum>(i);
    }
    return std::nullopt;
  }

  /// The value of an environment variable that holds one of the words; empty if it is unset.
  /// @throws environment_error if it is set to any other word
  std::optional<Enum> read(const char* variable) const {
    const std::optional<std::string> given = read_environment(variable);
    if (!given) return std::nullopt;
    if (const std::optional<Enum> known = find(*given)) return known;
    std::string all;
    for (const char* const word : words) all += (all.empty() ? "" : ", ") + std::string(word);
    throw_unknown_choice(variable, *given, all);
  }
};

}  // namespace tune::detail
