// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "libtune/device/command_queue.hpp"
#include "libtune/device/device.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/measure/timing/settings.hpp"

namespace tune::detail {

/// The operation that a measure runs, and its timer.
class measurable {
 public:
  measurable() = default;
  virtual ~measurable() = default;
  measurable(const measurable&) = delete;
  measurable& operator=(const measurable&) = delete;

  /// Makes runs without timing them, and waits for their end. @param runs  at least one
  void repeat(int runs) { do_run(runs); }
  /// The times of some runs, or one time, their mean.
  /// @param iterations  at least one
  std::vector<run_time> sample(int iterations) { return do_sample(iterations); }
  /// The times of single runs on an empty queue, with all that is between their commands.
  /// @param runs  at least one
  std::vector<run_time> sample_whole(int runs) { return do_sample_whole(runs); }
  /// Waits for everything that has been enqueued so far.
  void finish() { do_finish(); }
  /// Sets the state for all later runs; see measure::cache.
  void cache(cache_state state) { do_cache(state); }
  /// Zero if the times are exact, or the tick is unknown.
  run_time timer_resolution() const { return do_timer_resolution(); }

 private:
  virtual void do_run(int runs) = 0;
  virtual std::vector<run_time> do_sample(int iterations) = 0;
  // Unless it knows better, the time that a run takes at all.
  virtual std::vector<run_time> do_sample_whole(int runs) {
    std::vector<run_time> times;
    for (int i = 0; i < runs; ++i) times.push_back(do_sample(1).front());
    return times;
  }
  virtual void do_finish() = 0;
  virtual void do_cache(cache_state state) = 0;
  virtual run_time do_timer_resolution() const = 0;
};

/// An operation that is timed by the commands that it leaves on a queue.
/// @param neighbours  enqueued around it, and left out of its time
std::unique_ptr<measurable> make_measurable(tuning_command_queue queue,
                                            std::function<void()> operation,
                                            run_neighbours neighbours = {});

/// The number of bytes to write so that nothing else stays in the last cache: twice its size, or
/// 256 MiB where the API does not tell it; at most the largest buffer, or an eighth of the memory.
std::size_t flush_bytes(const device_limits& limits) noexcept;

}  // namespace tune::detail
