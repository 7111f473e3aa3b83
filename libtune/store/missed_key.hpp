// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "libtune/store/function_identity.hpp"
#include "libtune/store/record.hpp"

namespace tune {

/// A key for which a program found no result.
struct missed_key {
  function_identity function{};
  record_key key{};         ///< the arguments, in the order of function.key_fields, and the device
  std::string missed_at{};  ///< UTC, for people
  std::string program{};    ///< the path of the program; empty where the system does not tell
};

/// One line of JSON, without the line feed: FORMAT.md describes it. Lines of the same function, key
/// and device are equal up to the end of missed_identity.
std::string to_missed_line(const missed_key& missed);

/// That part of a line which says what was missed, and not when and by whom; empty if it is no such
/// line.
std::string_view missed_identity(std::string_view line) noexcept;

/// What such a line holds. @throws argument_error if it is not exactly what to_missed_line writes,
/// or names a function or fields that no database could have
missed_key from_missed_line(std::string_view line);

}  // namespace tune
