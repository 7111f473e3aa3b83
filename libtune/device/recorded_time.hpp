// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tune::detail {

/// The device time of all commands that this thread has recorded so far, on all queues
/// (tuning_command_queue::stop_recording).
std::chrono::nanoseconds recorded_time() noexcept;

}  // namespace tune::detail
