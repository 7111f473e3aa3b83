// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/event_waiter.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/signals.hpp"
#include "libtune/extra/pipeline/event_loop.hpp"

namespace tune {
namespace detail {

void event_wait::serve() noexcept {
  std::exception_ptr error;
  try {
    for (const event& waited : events_.view()) waited.wait();
  } catch (...) {
    error = std::current_exception();
  }
  events_.clear();
  if (error != nullptr) {
    fail(error);
  } else {
    set();
  }
}

bool event_wait::poll() noexcept {
  try {
    if (!std::ranges::all_of(events_.view(), &event::is_complete)) return false;
  } catch (...) {  // serve() meets the error again
  }
  serve();
  return true;
}

}  // namespace detail

event_list::event_list(std::span<const event> events) {
  for (const event& added : events) add(added);
}

void event_list::add(event added) {
  if (count_ < few && many_.empty()) {
    few_[count_++] = std::move(added);
    return;
  }
  if (many_.empty()) {
    many_.assign(std::make_move_iterator(few_.begin()), std::make_move_iterator(few_.end()));
    count_ = 0;
  }
  many_.push_back(std::move(added));
}

void event_list::add(const event_list& added) {
  for (const event& one : added.view()) add(one);
}

void event_list::clear() noexcept {
  for (std::size_t i = 0; i < count_; ++i) few_[i] = event{nullptr};
  count_ = 0;
  many_.clear();
}

std::span<const event> event_list::view() const noexcept {
  return many_.empty() ? std::span<const event>(few_.data(), count_)
                       : std::span<const event>(many_);
}

/// The line of waits, and its threads. A wait in the line holds a reference.
class event_waiter::parts {
 public:
  explicit parts(std::size_t threads) {
    if (threads == 0) throw argument_error("an event_waiter needs at least one thread");
    detail::refuse_if_forked([] { return "wait for device events"; });
    const detail::signals_blocked blocked;
    try {
      for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
    } catch (...) {
      stop();
      throw;
    }
  }
  ~parts() { stop(); }

  void add(const detail::state_pointer<detail::event_wait>& wait) {
    wait->add_reference();
    {
      const std::lock_guard lock(mutex_);
      (last_ == nullptr ? first_ : last_->next) = wait.get();
      last_ = wait.get();
    }
    changed_.notify_one();
  }

 private:
  /// The first in the line; null after the stop of the waiter.
  detail::state_pointer<detail::event_wait> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return first_ != nullptr || stopping_; });
    return detail::state_pointer<detail::event_wait>(stopping_ ? nullptr : take_first());
  }

  detail::event_wait* take_first() noexcept {
    detail::event_wait* taken = first_;
    if (taken != nullptr) first_ = taken->next;
    if (first_ == nullptr) last_ = nullptr;
    return taken;
  }

  void serve() {
    while (const auto wait = next()) wait->serve();
  }

  void stop() noexcept {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    while (detail::event_wait* left = take_first()) {
      left->cancel();
      left->release();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  detail::event_wait* first_ = nullptr;
  detail::event_wait* last_ = nullptr;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

event_waiter::event_waiter(std::size_t threads) : parts_(std::make_unique<parts>(threads)) {}
event_waiter::~event_waiter() {
  // A forked process has not inherited the threads, so it cannot join them.
  if (detail::is_forked()) static_cast<void>(parts_.release());
}

event_waiter& event_waiter::shared() {
  static detail::never_destroyed<event_waiter> waiter;
  return *waiter;
}

future<void> event_waiter::wait_for(event_list events) {
  detail::refuse_if_forked([] { return "wait for device events"; });
  const auto wait = detail::make_state<detail::event_wait>(std::move(events));
  parts_->add(wait);
  return future<void>(wait);
}

future<void> wait_for_events(event_list events) {
  if (event_loop* loop = event_loop::polling_here()) {
    const auto wait = detail::make_state<detail::event_wait>(std::move(events));
    loop->add_poll(wait);
    return future<void>(wait);
  }
  return event_waiter::shared().wait_for(std::move(events));
}

}  // namespace tune
