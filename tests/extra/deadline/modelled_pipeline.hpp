// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A pipeline without noise on a virtual clock: a frame of some units waits for the one before it,
// and then takes a fixed time and a time for each unit.
#pragma once

#include <algorithm>
#include <cstddef>

#include "libtune/extra/deadline/frame_record.hpp"

namespace sample {

struct modelled_pipeline {
  double units = 1;           // of a frame
  double fixed = 1e-3;        // s of a frame
  double of_unit = 1e-3;      // s
  double extra = 0;           // s that a result comes later, in which the next frame runs
  std::size_t slow_each = 0;  // each n-th frame takes `slow` longer; 0: none
  double slow = 0;

  double service() const { return fixed + units * of_unit; }

  tune::frame_record run(const tune::pipeline_load& load) const {
    using seconds = tune::frame_record::seconds;
    tune::frame_record made;
    double free = 0;
    double end = 0;
    std::size_t count = 0;
    for (;; ++count) {
      const double ready =
          load.rate > 0 ? static_cast<double>(count + 1) * units / load.rate : free;
      if (ready > load.duration.count()) break;
      const bool is_slow = slow_each > 0 && count % slow_each == slow_each - 1;
      free = std::max(free, ready) + service() + (is_slow ? slow : 0);
      end = free + extra;
      made.add(seconds(ready), seconds(end));
    }
    made.finish(units * static_cast<double>(count), seconds(end));
    return made;
  }
};

}  // namespace sample
