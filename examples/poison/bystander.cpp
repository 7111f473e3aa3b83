// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/poison/bystander.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace poison {
namespace {

constexpr std::size_t elements = 4096;
constexpr square_root_tuning known_to_work{.work_group = 64, .needless_rounds = 1};

square_root make_operation(tune::command_queue& queue) {
  const square_root_template made(queue.context(), {}, known_to_work);
  square_root operation = made.instantiate(queue, elements);
  operation.ensure_all_bound();
  operation.buffer("x").zero(queue);
  return operation;
}

}  // namespace

bystander::bystander(const tune::device& device)
    : queue_(device.create_context().create_command_queue()),
      operation_(make_operation(queue_)),
      thread_([this](const std::stop_token& stop) { launch_on_and_on(stop); }) {}

void bystander::launch_once() {
  const auto start = std::chrono::steady_clock::now();
  operation_.run();
  queue_.finish();
  const milliseconds time = std::chrono::steady_clock::now() - start;
  const std::lock_guard lock(mutex_);
  times_.push_back(time);
}

void bystander::launch_on_and_on(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested()) {
      launch_once();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const std::exception& failure) {
    const std::lock_guard lock(mutex_);
    error_ = failure.what();
  }
}

bystander::report bystander::take_report() {
  std::vector<milliseconds> times;
  report made;
  {
    const std::lock_guard lock(mutex_);
    times.swap(times_);
    made.error = error_;
  }
  made.launches = times.size();
  if (times.empty()) return made;
  std::ranges::sort(times);
  made.median = times[times.size() / 2];
  made.longest = times.back();
  return made;
}

}  // namespace poison
