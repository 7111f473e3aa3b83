// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// One environment variable that libtune reads. The table of them is the documentation:
/// docs/environment.md repeats it, and a test compares the two.
struct environment_variable {
  const char* name;          ///< as programs set it: "LIBTUNE_DEVICE"
  const char* form;          ///< the form of its value
  const char* default_text;  ///< the behaviour without it
  const char* meaning;       ///< its effect, in one line
};

/// Every variable that libtune reads.
std::span<const environment_variable> environment_variables() noexcept;

/// The variable's value now; empty if it is unset, set to nothing, or the program runs with raised
/// privileges (setuid). The name has to be in the table. Variables are read each time that they
/// are asked for, never remembered.
std::optional<std::string> read_environment(const char* name);

/// The variable's value as a non-negative integer.
/// @throws environment_error if it is set and is anything else.
std::optional<std::size_t> read_environment_index(const char* name);

/// The variable's value as one of a few words.
/// @throws environment_error if it is set to none of them; the text lists them.
template <class T>
std::optional<T> read_environment_choice(const char* name,
                                         std::initializer_list<std::pair<const char*, T>> choices);

namespace detail {
[[noreturn]] void throw_unknown_choice(const char* name, const std::string& given,
                                       const std::string& choices);
}  // namespace detail

template <class T>
std::optional<T> read_environment_choice(const char* name,
                                         std::initializer_list<std::pair<const char*, T>> choices) {
  const std::optional<std::string> given = read_environment(name);
  if (!given) return std::nullopt;
  std::string known;
  for (const auto& [word, meaning] : choices) {
    if (*given == word) return meaning;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  detail::throw_unknown_choice(name, *given, known);
}

}  // namespace tune
