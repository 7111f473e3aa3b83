// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "libtune/measure/timing/measure_settings.hpp"
#include "libtune/measure/timing/samples.hpp"

namespace tune::detail {

/// What a measure runs.
class measurable {
 public:
  measurable() = default;
  virtual ~measurable() = default;
  measurable(const measurable&) = delete;
  measurable& operator=(const measurable&) = delete;

  /// One run, and waits for its end.
  void run() { do_run(); }
  /// iterations is positive.
  std::vector<run_time> sample(int iterations) { return do_sample(iterations); }
  /// Waits for everything that has been enqueued so far.
  void finish() { do_finish(); }
  /// From now on; see measure::cache.
  void cache(cache_state state) { do_cache(state); }
  /// Zero if the times are exact, or nobody knows.
  run_time timer_resolution() const { return do_timer_resolution(); }

 private:
  virtual void do_run() = 0;
  virtual std::vector<run_time> do_sample(int iterations) = 0;
  virtual void do_finish() = 0;
  virtual void do_cache(cache_state state) = 0;
  virtual run_time do_timer_resolution() const = 0;
};

}  // namespace tune::detail
