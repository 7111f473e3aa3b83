// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "libtune/libtune.hpp"

namespace bench {

/// Something that enqueues on a queue, and what its device time was.
struct contender {
  std::function<void()> enqueue;
  std::vector<double> seconds{};

  double median() const;
};

/// Times contenders in turn, round by round, by markers around each on a queue made with profiling,
/// so that what slows the device down meets all of them. Every contender has a round before, which
/// does not count.
void time_in_turn(tune::command_queue& queue, std::vector<contender>& contenders, int rounds);

/// The median over the rounds of how many times longer a took than b.
double ratio(const contender& a, const contender& b);

/// A copy on the device, which the bandwidth of an operation is compared with. The queue has to
/// outlive it.
contender copy_of(tune::command_queue& queue, const tune::device_array& from,
                  const tune::device_array& to);

/// Lets autotuners of a context search whatever a database has, over their whole space, or over so
/// many configurations chosen at random if the limit is not 0.
void search_afresh(const tune::context& context, std::size_t limit);

/// The devices of these indices, as LIBTUNE_DEVICE counts; all if there are none.
std::vector<tune::device> chosen_devices(const std::vector<std::size_t>& indices);

}  // namespace bench
