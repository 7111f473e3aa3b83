// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/device/context.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

/// Returns the result of a lock file for a function, key and device (tuning_settings::lock). No
/// database is read, and nothing is tuned. The next program that this thread compiles with it is
/// compared with the locked one, if its digest is known: if they differ, tune::compile throws
/// not_locked_error.
///
/// A lock file is read on first use, and then kept for the life of the process. Thread-safe.
/// @throws not_locked_error if the lock file cannot be read, or lacks the result
record find_locked(const std::string& path, const context& context,
                   const function_identity& function, const tuning_subject& subject);

}  // namespace tune
