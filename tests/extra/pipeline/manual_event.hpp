// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/queue_interface.hpp"

namespace manual {

/// The state of an event that ends when a test says so.
class manual_event_state final : public tune::detail::event_interface {
 public:
  void end(std::string error) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      error_ = std::move(error);
    }
    changed_.notify_all();
  }
  int waiters() const {
    const std::lock_guard lock(mutex_);
    return waiters_;
  }
  void wait_for_waiter() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiters_ > 0; });
  }

 private:
  void do_wait() const override {
    std::unique_lock lock(mutex_);
    ++waiters_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return ended_; });
    --waiters_;
    if (!error_.empty()) throw tune::error(error_);
  }
  bool do_is_complete() const override {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  std::chrono::nanoseconds do_duration() const override { return {}; }
  std::chrono::nanoseconds do_time_since(const event_interface&) const override { return {}; }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int waiters_ = 0;
  bool ended_ = false;
  std::string error_;
};

/// An event that ends when a test says so.
class manual_event {
 public:
  tune::event handle() const { return tune::event(state_); }
  /// The handles that others hold.
  long handles() const { return state_.use_count() - 1; }
  void complete() { state_->end(""); }
  void fail(const std::string& error) { state_->end(error); }
  /// The threads that wait for it.
  int waiters() const { return state_->waiters(); }
  /// Blocks until a thread waits for it.
  void wait_for_waiter() const { state_->wait_for_waiter(); }

 private:
  std::shared_ptr<manual_event_state> state_ = std::make_shared<manual_event_state>();
};

}  // namespace manual
