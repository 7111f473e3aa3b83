// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtune/exchange/shown_field.hpp"
#include "libtune/store/maintenance/database_content.hpp"

namespace tune {

/// One search in Kernel Tuner's results format, T4 1.0.0. Times are in milliseconds, with 15
/// digits.
///
/// A result has the trial's configuration, samples ("runtimes"), score (the measurement "time"),
/// the time until its first sample ("compilation"), its date, its outcome ("invalidity", and a
/// measurement "outcome" where that says less) and the reason of it. "metadata" says under
/// "libtune" whose search it was and how it ended, in the form of exchange.hpp: the function, the
/// key, the device, the dates and the stored result. What T4 has no words for, such as the digests
/// of programs, is not in the file; exchange.hpp and backup.hpp have exact forms.
/// @param one  a function with one search, and at most the results for its key
std::string to_t4_text(const function_content& one);

/// What a file that was not written by to_t4_text does not say of itself.
struct t4_subject {
  /// value_fields may be empty: they are those of the file then, with the types of shown_field.
  function_identity function{};
  field_types types{};                   ///< of such fields, where somebody knows them
  std::vector<named_value> arguments{};  ///< in the order of the function's key_fields
  device_identity device{};
};

/// Whether the file was written by to_t4_text.
bool is_own_t4(std::string_view text);

/// The search of a file that to_t4_text wrote, with what it says. @throws argument_error
function_content from_own_t4_text(std::string_view text);

/// The search of a file from elsewhere, and its fastest configuration as the result.
/// @throws argument_error that says what is wrong with the file
function_content from_t4_text(std::string_view text, const t4_subject& subject);

}  // namespace tune
