// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The knobs of the receiver, tuned for the highest rate at which frames are in time.
#pragma once

#include <functional>

#include "examples/receiver/receiver.hpp"
#include "libtune/extra/deadline.hpp"

namespace receiver {

/// The heaps of a frame, and what may change between two runs.
struct chosen_knobs {
  std::size_t heaps = 0;
  run_knobs run{};
};

/// The knobs of a receiver.
/// @param polls  true if the thread may poll; by hand it does
tune::pipeline_space knobs_of(const settings& sizes, bool polls);

chosen_knobs from(const tune::configuration& knobs);

/// Makes receivers of knobs, with the deadline of a frame in seconds. The dumps of all are equally
/// long.
tune::pipeline_maker receivers(const tune::context& context, const settings& sizes,
                               double deadline);

/// Finds the knobs of the highest rate, in samples/s of an input, at which a frame is late in at
/// most one of 1000 cases, or looks them up.
/// @param kernels   the tuning of its kernels
/// @param deadline  the time from a frame's last sample to its results, in seconds
/// @param seconds   the time of all runs
tune::tuned_knobs tune_knobs(const tune::context& context, const settings& sizes, bool polls,
                             tune::kernel_turns kernels, double deadline, double seconds,
                             const std::function<void(const tune::pipeline_run&)>& listener = {});

}  // namespace receiver
