// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "libtune/device/command_queue.hpp"
#include "libtune/measure/measurable.hpp"

namespace tune::detail {

/// An operation timed by the commands that it leaves on a queue.
class queue_measurable final : public measurable {
 public:
  queue_measurable(tuning_command_queue queue, std::function<void()> operation);

 private:
  void do_run() override;
  std::vector<run_time> do_sample(int iterations) override;
  void do_finish() override;

  /// Where each run's commands end among those recorded.
  std::vector<std::size_t> enqueue(int iterations);

  tuning_command_queue queue_;
  std::function<void()> operation_;
};

}  // namespace tune::detail
