// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/ready/get_ready.hpp"

namespace tune::detail {

/// The device time of the operations of a key in a frame.
struct timed_key {
  std::string function{};  ///< the name of the autotuner; empty: none is declared for the operation
  std::vector<named_value> arguments{};
  std::chrono::duration<double> time{};
};

/// Times the operations of a frame in place, that is one after the other: by the recorded times of
/// their commands, or, on a queue without profiling, by the clock of the host. Operations of
/// sequences are timed apart, unless the sequence itself has a key (tuned_by).
/// @throws exceptions of the operations
std::vector<timed_key> time_frame(const std::vector<frame_part>& frame);

}  // namespace tune::detail
