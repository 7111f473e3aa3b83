// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Transport of an autotune function's exceptions from one process to another.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "libtune/child/tuner_message.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// Cuts a text to the room in a message.
std::string cut(std::string text);

/// Describes an exception, to be sent instead of it.
tuning_failure describe_failure(std::exception_ptr thrown);

/// Throws the exception of a failure.
/// @param trials  of the search, for the text of a tuning_failed_error
[[noreturn]] void throw_failure(const tuning_failure& failure, const tuning_subject& subject,
                                const std::vector<trial>& trials);

}  // namespace tune::detail
