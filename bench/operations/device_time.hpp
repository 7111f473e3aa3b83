// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

}  // namespace bench
