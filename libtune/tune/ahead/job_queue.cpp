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

void led_job::give_back() {
  const std::lock_guard lock(queue_->mutex_);
  queue_->jobs_.push_front(number_);
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

namespace {

constexpr std::size_t enough_trials = 8;

// A divided search starts twice more, once in shards and once for the finals. Two shards save as
// much as one of them takes.
constexpr int starts_in_a_shard = 3;

std::size_t share_of(std::size_t count, std::size_t shards) {
  return (count + shards - 1) / shards;
}

// The time spent on the whole before counts in each shard, its trials do not.
void divide_budget(tuning_options& options, std::size_t made, std::size_t shards) {
  if (!options.budget || !options.budget->trials) return;
  const std::size_t left = *options.budget->trials - std::min(made, *options.budget->trials);
  options.budget->trials = std::max<std::size_t>(1, share_of(left, shards));
}

}  // namespace

std::optional<search_forecast> search_pace::look(std::size_t left, clock::time_point now) {
  if (!first_left_) first_left_ = left;
  if (!first_trial_) {
    if (left < *first_left_) first_trial_ = moment{left, now};
    return std::nullopt;
  }
  if (left + enough_trials > first_trial_->left) return std::nullopt;
  const std::chrono::duration<double> elapsed = now - first_trial_->time;
  const auto rest =
      elapsed / static_cast<double>(first_trial_->left - left) * static_cast<double>(left);
  return search_forecast{.start = first_trial_->time - start_,
                         .rest = std::chrono::duration_cast<std::chrono::nanoseconds>(rest)};
}

std::vector<search_shard> divide(const search_started_event& whole, std::size_t tried,
                                 const tuning_options& options, std::size_t shards) {
  const std::size_t left = whole.planned - std::min(tried, whole.planned);
  std::vector<search_shard> all(shards, {.options = options});
  for (std::size_t i = 0; i < shards; ++i) {
    divide_budget(all[i].options, tried - std::min(whole.taken_over, tried), shards);
    if (whole.strategy == "exhaustive") {
      all[i].choice = {.shard = i, .shards = shards};
    } else {
      all[i].options.strategy = whole.strategy;
      all[i].options.search.seed += i;
      all[i].options.search.max_count = tried + share_of(left, shards);
    }
  }
  return all;
}

std::optional<std::size_t> worthwhile_shards(std::size_t left,
                                             const std::optional<search_forecast>& forecast,
                                             std::chrono::nanoseconds smallest) {
  const std::size_t most = std::max<std::size_t>(1, left);
  if (smallest <= std::chrono::nanoseconds::zero()) return most;
  if (!forecast) return std::nullopt;
  const auto shard = std::max(smallest, starts_in_a_shard * forecast->start);
  return std::clamp<std::size_t>(static_cast<std::size_t>(forecast->rest / shard), 1, most);
}

}  // namespace tune
