// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/job_queue.hpp"

#include <algorithm>
#include <utility>

namespace tune {

led_job::~led_job() {
  if (queue_ == nullptr) return;
  settle();
  const std::lock_guard lock(queue_->mutex_);
  --queue_->under_way_;
  queue_->changed_.notify_all();
}

led_job::led_job(led_job&& other) noexcept
    : queue_(std::exchange(other.queue_, nullptr)),
      number_(other.number_),
      settled_(other.settled_) {}

std::size_t led_job::reserve(std::size_t most) {
  const std::lock_guard lock(queue_->mutex_);
  if (settled_ || !queue_->jobs_.empty()) return 0;
  const std::size_t free = queue_->idle_ - queue_->promised_;
  const std::size_t share = (free + queue_->may_ask_ - 1) / queue_->may_ask_;
  const std::size_t taken = std::min(share, most);
  queue_->promised_ += taken;
  return taken;
}

void led_job::help(std::vector<shard> shards, std::size_t reserved) {
  const std::lock_guard lock(queue_->mutex_);
  queue_->promised_ -= reserved - shards.size();
  for (shard& item : shards) queue_->shards_.push_back(std::move(item));
  queue_->changed_.notify_all();
}

void led_job::settle() noexcept {
  const std::lock_guard lock(queue_->mutex_);
  if (!std::exchange(settled_, true)) --queue_->may_ask_;
}

std::optional<job_queue::task> job_queue::next() {
  std::unique_lock lock(mutex_);
  ++idle_;
  changed_.wait(lock, [&] { return !jobs_.empty() || !shards_.empty() || under_way_ == 0; });
  --idle_;
  if (!shards_.empty()) {
    --promised_;
    task taken(std::move(shards_.front()));
    shards_.pop_front();
    return taken;
  }
  if (jobs_.empty()) return std::nullopt;
  const std::size_t number = jobs_.front();
  jobs_.pop_front();
  ++under_way_;
  ++may_ask_;
  return task(std::in_place_type<led_job>, *this, number);
}

}  // namespace tune
