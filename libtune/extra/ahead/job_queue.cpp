// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/job_queue.hpp"

#include <utility>

namespace tune {

led_job::~led_job() {
  if (queue_ == nullptr) return;
  const std::lock_guard lock(queue_->mutex_);
  --queue_->under_way_;
  queue_->changed_.notify_all();
}

led_job::led_job(led_job&& other) noexcept
    : queue_(std::exchange(other.queue_, nullptr)), number_(other.number_) {}

void led_job::give_back() {
  const std::lock_guard lock(queue_->mutex_);
  queue_->jobs_.push_front(number_);
}

std::optional<led_job> job_queue::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !jobs_.empty() || under_way_ == 0; });
  if (jobs_.empty()) return std::nullopt;
  const std::size_t number = jobs_.front();
  jobs_.pop_front();
  ++under_way_;
  return std::optional<led_job>(std::in_place, *this, number);
}

}  // namespace tune
