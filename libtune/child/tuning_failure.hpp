// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Exceptions of an autotune function on their way from one process to another.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "libtune/child/tuner_message.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// Cuts off what no message has room for.
std::string cut(std::string text);

/// The failure that tells of an exception, to be sent in its place.
tuning_failure describe_failure(std::exception_ptr thrown);

/// Throws what a failure tells of.
/// @param trials  of the search, for the text of a tuning_failed_error
[[noreturn]] void throw_failure(const tuning_failure& failure, const tuning_subject& subject,
                                const std::vector<trial>& trials);

}  // namespace tune::detail
