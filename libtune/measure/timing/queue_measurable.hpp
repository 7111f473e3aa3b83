// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "libtune/device/command_queue.hpp"
#include "libtune/measure/timing/cache_flush.hpp"
#include "libtune/measure/timing/measurable.hpp"

namespace tune::detail {

/// An operation timed by the commands that it leaves on a queue.
class queue_measurable final : public measurable {
 public:
  queue_measurable(tuning_command_queue queue, std::function<void()> operation);

 private:
  void do_run() override;
  std::vector<run_time> do_sample(int iterations) override;
  void do_finish() override;
  void do_cache(cache_state state) override;
  run_time do_timer_resolution() const override;

  /// Which of the recorded commands are a run's.
  struct run_commands {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<run_commands> enqueue(int iterations);

  tuning_command_queue queue_;
  std::function<void()> operation_;
  std::optional<cache_flush> flush_;  // before each run, while the cache is to be cold
};

}  // namespace tune::detail
