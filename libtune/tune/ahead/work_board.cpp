// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/work_board.hpp"

#include <algorithm>
#include <utility>

namespace tune {

led_job::~led_job() {
  if (board_ == nullptr) return;
  settle();
  const std::lock_guard lock(board_->mutex_);
  --board_->under_way_;
  board_->changed_.notify_all();
}

led_job::led_job(led_job&& other) noexcept
    : board_(std::exchange(other.board_, nullptr)),
      number_(other.number_),
      settled_(other.settled_) {}

std::size_t led_job::reserve(std::size_t most) {
  const std::lock_guard lock(board_->mutex_);
  if (settled_ || !board_->jobs_.empty()) return 0;
  const std::size_t free = board_->idle_ - board_->promised_;
  const std::size_t share = (free + board_->may_ask_ - 1) / board_->may_ask_;
  const std::size_t taken = std::min(share, most);
  board_->promised_ += taken;
  return taken;
}

void led_job::help(std::vector<part> parts, std::size_t reserved) {
  const std::lock_guard lock(board_->mutex_);
  board_->promised_ -= reserved - parts.size();
  for (part& item : parts) board_->parts_.push_back(std::move(item));
  board_->changed_.notify_all();
}

void led_job::settle() noexcept {
  const std::lock_guard lock(board_->mutex_);
  if (!std::exchange(settled_, true)) --board_->may_ask_;
}

std::optional<work_board::task> work_board::next() {
  std::unique_lock lock(mutex_);
  ++idle_;
  changed_.wait(lock, [&] { return !jobs_.empty() || !parts_.empty() || under_way_ == 0; });
  --idle_;
  if (!parts_.empty()) {
    --promised_;
    task taken(std::move(parts_.front()));
    parts_.pop_front();
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
