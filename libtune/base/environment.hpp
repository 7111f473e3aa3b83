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

/// One environment variable that libtune reads. The table of these variables is the documentation:
/// docs/environment.md repeats it, and a test compares the two.
struct environment_variable {
  const char* name;          ///< the variable's name: "LIBTUNE_DEVICE"
  const char* form;          ///< the form of its value
  const char* default_text;  ///< the behaviour without it
  const char* meaning;       ///< its effect, in one line
};

/// All variables that libtune reads.
std::span<const environment_variable> environment_variables() noexcept;

/// The variable's present value; empty if it is unset or set to nothing, or if the program runs
/// with raised privileges (setuid). The name has to be in the table. Each call reads the
/// environment; no value is remembered.
std::optional<std::string> read_environment(const char* name);

/// The variable's value as a non-negative integer.
/// @throws environment_error if it is set to anything else
std::optional<std::size_t> read_environment_index(const char* name);

/// The variable's value as one of a few given words.
/// @throws environment_error if it is set to any other word; the text lists the accepted words
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
