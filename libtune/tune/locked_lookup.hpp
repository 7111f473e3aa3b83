// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/device/context.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

/// Returns the result that a lock has for a function, key and device (tuning_settings::lock). No
/// database is read, and nothing is tuned. The program that this thread compiles with it next is
/// compared with the one that was locked, where its digest is known: not_locked_error leaves
/// tune::compile if it is another.
///
/// A lock is read when it is used first, and then kept for the life of the process. Thread-safe.
/// @throws not_locked_error if the lock cannot be read, or has no such result
record find_locked(const std::string& path, const context& context,
                   const function_identity& function, const tuning_subject& subject);

}  // namespace tune
