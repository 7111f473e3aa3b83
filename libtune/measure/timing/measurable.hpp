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

/// The operation of a measure, with its timer.
class measurable {
 public:
  measurable() = default;
  virtual ~measurable() = default;
  measurable(const measurable&) = delete;
  measurable& operator=(const measurable&) = delete;

  /// Makes runs without timing them, and waits for their end. @param runs  at least one
  void repeat(int runs) { do_run(runs); }
  /// Returns the times of some runs, or a single one, their mean.
  /// @param iterations  at least one
  std::vector<run_time> sample(int iterations) { return do_sample(iterations); }
  /// Returns the times of whole runs, including gaps; see measure::sample_whole.
  /// @param runs  at least one
  std::vector<run_time> sample_whole(int runs, bool busy) { return do_sample_whole(runs, busy); }
  /// Waits for all enqueued commands.
  void finish() { do_finish(); }
  /// Sets the state for all later runs; see measure::cache.
  void cache(cache_state state) { do_cache(state); }
  /// The tick of the times; zero if they are exact, or the tick is unknown.
  run_time timer_resolution() const { return do_timer_resolution(); }

 private:
  virtual void do_run(int runs) = 0;
  virtual std::vector<run_time> do_sample(int iterations) = 0;
  // By default the plain time of each run.
  virtual std::vector<run_time> do_sample_whole(int runs, bool /*busy*/) {
    std::vector<run_time> times;
    for (int i = 0; i < runs; ++i) times.push_back(do_sample(1).front());
    return times;
  }
  virtual void do_finish() = 0;
  virtual void do_cache(cache_state state) = 0;
  virtual run_time do_timer_resolution() const = 0;
};

/// Makes a measurable for an operation that is timed by its commands on a queue.
/// @param neighbours  enqueued around it; not included in its time
std::unique_ptr<measurable> make_measurable(tuning_command_queue queue,
                                            std::function<void()> operation,
                                            run_neighbours neighbours = {});

/// The number of bytes to write to evict everything else from the last cache: twice its size, or
/// 256 MiB if the API does not report it; at most the largest buffer, or an eighth of the memory.
std::size_t flush_bytes(const device_limits& limits) noexcept;

}  // namespace tune::detail
