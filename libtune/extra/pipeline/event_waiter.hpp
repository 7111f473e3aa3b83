// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "libtune/device/command_queue.hpp"
#include "libtune/extra/pipeline/future.hpp"

namespace tune {

/// Device events, in the order of their addition. Up to eight need no allocation.
class event_list {
 public:
  event_list() = default;
  /// A list of one event.
  // NOLINTNEXTLINE(google-explicit-constructor): an event is waited for as a list is
  event_list(event only) { add(std::move(only)); }
  /// A list of the events of a span.
  explicit event_list(std::span<const event> events);
  /// A list of these events.
  event_list(std::initializer_list<event> events)
      : event_list(std::span<const event>(events.begin(), events.size())) {}

  /// Adds one event at the end.
  void add(event added);
  /// Adds all events of another list.
  void add(const event_list& added);
  /// Removes all events.
  void clear() noexcept;

  /// The events, valid until the list changes.
  std::span<const event> view() const noexcept;
  /// The number of events.
  std::size_t size() const noexcept { return view().size(); }
  /// True without events.
  bool empty() const noexcept { return size() == 0; }

 private:
  static constexpr std::size_t few = 8;

  std::array<event, few> few_ = {event{nullptr}, event{nullptr}, event{nullptr}, event{nullptr},
                                 event{nullptr}, event{nullptr}, event{nullptr}, event{nullptr}};
  std::size_t count_ = 0;
  std::vector<event> many_;  // all events, if there are more
};

namespace detail {

/// A future that ends after events, in the line of an event_waiter or of a polling event_loop.
class event_wait final : public value_state<void> {
 public:
  explicit event_wait(event_list events) : events_(std::move(events)) {}

  /// Blocks until the events have ended, and then ends.
  void serve() noexcept;
  /// Ends if the events have ended. @return false if they have not
  bool poll() noexcept;

  event_wait* next = nullptr;  ///< in the line

 private:
  void destroy() noexcept override { give_back_state(this); }

  event_list events_;
};

}  // namespace detail

/// Threads that only wait for device events, asleep in the driver, so that no other thread has to
/// block. Each serves one wait at a time, in the order of requests: with at least as many threads
/// as queues, no wait is delayed by a longer one of another queue. Waiting allocates nothing once
/// there is memory for a few waits. Thread-safe.
class event_waiter {
 public:
  /// Starts the threads, which block all signals.
  /// @param threads  at least one
  /// @throws argument_error, std::system_error, forked_process_error
  explicit event_waiter(std::size_t threads = 4);
  event_waiter(const event_waiter&) = delete;
  event_waiter& operator=(const event_waiter&) = delete;
  /// Ends waits that have not begun with cancelled_error, and blocks until the waits under way have
  /// ended.
  ~event_waiter();

  /// The waiter of wait_for_events, with four threads, started at the first call. It lives as long
  /// as the process.
  static event_waiter& shared();

  /// A future that ends when all the events have ended, or with the device_error of the first
  /// failed one. The events are released before it ends, on the thread that waited. A cancelled
  /// future ends at once; its events are released when the device has reached them.
  /// @throws forked_process_error
  future<void> wait_for(event_list events);

 private:
  class parts;
  std::unique_ptr<parts> parts_;
};

/// As event_waiter::shared().wait_for(events); on the thread of a polling event_loop that loop
/// polls the device instead (loop_wait::polling).
future<void> wait_for_events(event_list events);

}  // namespace tune
