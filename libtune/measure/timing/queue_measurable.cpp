// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/queue_measurable.hpp"

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
  const std::vector<run_commands> runs = enqueue(iterations);
  const std::vector<std::chrono::nanoseconds> commands = recorded.stop();
  std::vector<run_time> times;
  for (const run_commands& run : runs) {
    const auto begin = commands.begin() + static_cast<std::ptrdiff_t>(run.begin);
    const auto end = commands.begin() + static_cast<std::ptrdiff_t>(run.end);
    times.emplace_back(std::accumulate(begin, end, std::chrono::nanoseconds::zero()));
  }
  return times;
}

void queue_measurable::do_finish() { queue_.finish(); }

void queue_measurable::do_cache(cache_state state) {
  if (state == cache_state::warm) {
    flush_.reset();
  } else if (!flush_) {
    flush_.emplace(queue_);
  }
}

run_time queue_measurable::do_timer_resolution() const {
  return std::chrono::nanoseconds(queue_.device().limits().timer_resolution_ns);
}

// A flush is recorded too, and left out: it is no run's command.
std::vector<queue_measurable::run_commands> queue_measurable::enqueue(int iterations) {
  std::vector<run_commands> runs;
  for (int i = 0; i < iterations; ++i) {
    if (flush_) flush_->enqueue();
    const std::size_t begin = queue_.recorded();
    operation_();
    runs.push_back({.begin = begin, .end = queue_.recorded()});
    if (runs.back().end == begin) throw_nothing_enqueued(queue_);
  }
  return runs;
}

}  // namespace tune::detail
