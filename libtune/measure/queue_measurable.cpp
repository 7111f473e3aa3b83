// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/queue_measurable.hpp"

#include <chrono>
#include <exception>
#include <numeric>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/device.hpp"

namespace tune::detail {
namespace {

/// Ends recording also when an operation throws, so that the queue can be used again.
class [[nodiscard]] recording {
 public:
  explicit recording(tuning_command_queue& queue) : queue_(queue) { queue_.start_recording(); }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;
  ~recording() {
    if (stopped_) return;
    try {
      stop();
    } catch (const std::exception& problem) {
      log(log_level::debug, std::string("recording ended with ") + problem.what());
    }
  }

  std::vector<std::chrono::nanoseconds> stop() {
    stopped_ = true;
    return queue_.stop_recording();
  }

 private:
  tuning_command_queue& queue_;
  bool stopped_ = false;
};

[[noreturn]] void throw_nothing_enqueued(const tuning_command_queue& queue) {
  throw argument_error(
      "the operation enqueued no kernel on the queue of make_measure, on device '" +
      queue.device().name() + "'; give make_measure the queue that the operation was made for");
}

}  // namespace

queue_measurable::queue_measurable(tuning_command_queue queue, std::function<void()> operation)
    : queue_(std::move(queue)), operation_(std::move(operation)) {}

void queue_measurable::do_run() {
  operation_();
  queue_.finish();
}

std::vector<run_time> queue_measurable::do_sample(int iterations) {
  recording recorded(queue_);
  const std::vector<std::size_t> ends = enqueue(iterations);
  const std::vector<std::chrono::nanoseconds> commands = recorded.stop();
  std::vector<run_time> runs;
  auto begin = commands.begin();
  for (const std::size_t end : ends) {
    const auto stop = commands.begin() + static_cast<std::ptrdiff_t>(end);
    runs.emplace_back(std::accumulate(begin, stop, std::chrono::nanoseconds::zero()));
    begin = stop;
  }
  return runs;
}

void queue_measurable::do_finish() { queue_.finish(); }

std::vector<std::size_t> queue_measurable::enqueue(int iterations) {
  std::vector<std::size_t> ends;
  std::size_t begin = queue_.recorded();
  for (int i = 0; i < iterations; ++i) {
    operation_();
    ends.push_back(queue_.recorded());
    if (ends.back() == begin) throw_nothing_enqueued(queue_);
    begin = ends.back();
  }
  return ends;
}

}  // namespace tune::detail
