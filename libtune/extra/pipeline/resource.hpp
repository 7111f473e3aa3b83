// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The order in which the steps of a pipeline use a resource for one user at a time: a set of
// buffers, an operation with its buffers bound. Steps get it in the order of their calls of
// acquire(), even if a later one is ready first. A step passes on the right to enqueue, with the
// events for the next step's queue to wait for, and need not wait for the device.
//
//   tune::resource<buffers> shared(make_buffers());
//   tune::task<> step(tune::resource_allocation<buffers> turn, tune::command_queue queue) {
//     buffers& b = co_await turn.enter(queue);
//     enqueue_work(queue, b);
//     turn.ready(queue);
//   }
//   loop.spawn(step(shared.acquire(), queue));  // acquire() fixes the order
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "libtune/device/command_queue.hpp"
#include "libtune/extra/pipeline/event_waiter.hpp"
#include "libtune/extra/pipeline/future.hpp"
#include "libtune/extra/pipeline/task.hpp"

namespace tune {

/// The previous holder left without ready() or fail(), because of an error.
class abandoned_error : public error {
 public:
  using error::error;
};

namespace detail {

/// The end of one turn of a resource, with the events that the next turn must wait for. It ends
/// when its holder has released it and the previous turn has ended. So an early release lets no
/// later turn overtake earlier ones or their device events. It cannot be cancelled.
class turn_state final : public value_state<event_list>, private future_waiter {
 public:
  explicit turn_state(state_pointer<turn_state> previous) noexcept
      : previous_(std::move(previous)) {}

  bool cancel() noexcept override { return false; }
  /// The end of the previous turn; null for the first.
  const state_pointer<turn_state>& previous() const noexcept { return previous_; }
  /// The events after which the resource may be used, once the turn has ended, even by an error.
  const event_list& events() const noexcept { return failure() != nullptr ? events_ : value(); }
  /// Ends the turn with events, or with an error for the next one.
  /// @param is_ordered  true if these events come after the previous turn's; else the previous
  ///                    turn's are passed on as well
  void release_turn(event_list events, std::exception_ptr error, bool is_ordered);

 private:
  void notify() noexcept override;
  void finish() noexcept;
  void destroy() noexcept override { give_back_state(this); }

  state_pointer<turn_state> previous_;
  event_list events_;
  std::exception_ptr error_;
  bool is_ordered_ = false;
};

/// The line of turns for a resource. Thread-safe.
class turn_line {
 public:
  /// Joins the line at its end.
  state_pointer<turn_state> join();

 private:
  std::mutex mutex_;
  state_pointer<turn_state> last_;
};

/// One turn, independent of the type of the resource.
class turn {
 public:
  explicit turn(state_pointer<turn_state> state) noexcept;
  turn(turn&& other) noexcept = default;
  turn& operator=(turn&& other) noexcept;
  ~turn();

  future<event_list> wait();
  task<> wait_events();
  task<> enter(command_queue queue);
  void enter_blocking(command_queue& queue);
  void ready(event_list events);
  void fail(std::exception_ptr error);
  void fail(std::exception_ptr error, event_list events);
  bool is_released() const noexcept { return !state_; }

 private:
  /// Returns the turn to wait for; null without one.
  const state_pointer<turn_state>& begin();
  /// True once the holder has seen the end of the previous turn.
  bool has_come() const noexcept;
  void release(event_list events, std::exception_ptr error);
  void leave() noexcept;

  state_pointer<turn_state> state_;  // null once released
  bool entered_ = false;             // it waits, or has waited
  int exceptions_;                   // exceptions under way at its construction
};

}  // namespace detail

/// A place in the line for a resource, and then the right to use it. Movable; used by one thread at
/// a time. If it ends without ready() or fail(), the next one gets the resource all the same, with
/// the device events of earlier turns: after an exception, with abandoned_error; with a warning if
/// its turn had come.
template <class T>
class resource_allocation {
 public:
  /// For libtune's own code only; users call resource::acquire.
  resource_allocation(std::shared_ptr<T> value, detail::turn turn) noexcept
      : value_(std::move(value)), turn_(std::move(turn)) {}

  /// Ends when the turn has come, with the device events after which the resource may be used; or
  /// with the error passed on by the previous holder: then enter() or wait_events() waits for the
  /// events before it throws that error. Cancelling it has no effect. The holder counts as having
  /// waited only if it takes the result, by co_await or get(); otherwise the next one gets these
  /// events, too.
  future<event_list> wait() { return turn_.wait(); }
  /// Waits for the turn, then until the host may use the resource: until these events have ended.
  /// @throws the error passed on by the previous holder, afterwards; device_error
  task<T&> wait_events() {
    co_await turn_.wait_events();
    co_return *value_;
  }
  /// Waits for the turn, then makes later commands of a queue wait for those events.
  /// @throws as wait_events
  task<T&> enter(command_queue queue) {
    co_await turn_.enter(std::move(queue));
    co_return *value_;
  }
  /// Like enter(), for a thread that may block. @throws as wait_events
  T& enter_blocking(command_queue& queue) {
    turn_.enter_blocking(queue);
    return *value_;
  }

  /// The resource, which may be used from the start of the turn until ready().
  T& value() const noexcept { return *value_; }

  /// Ends the turn: the next one may use the resource after these events.
  /// @throws argument_error if the turn has already ended
  void ready(event_list events = {}) { turn_.ready(std::move(events)); }
  /// Ends the turn: the next one may use the resource after the present commands of a queue.
  void ready(command_queue& queue) { turn_.ready(queue.enqueue_marker()); }
  /// Ends the turn with an error, which the next one gets when it waits. The device events of
  /// earlier turns are passed on too, so that a next holder that handles the error may use the
  /// resource.
  /// @throws argument_error if the turn has already ended
  void fail(std::exception_ptr error) { turn_.fail(std::move(error)); }
  /// Ends the turn with an error and with events of the commands enqueued before it.
  void fail(std::exception_ptr error, event_list events) {
    turn_.fail(std::move(error), std::move(events));
  }
  /// True once ready() or fail() was called.
  bool is_released() const noexcept { return turn_.is_released(); }

 private:
  std::shared_ptr<T> value_;
  detail::turn turn_;
};

// GCC gives the frame of a coroutine with a lambda external linkage.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

/// A resource for one user at a time, in the order of requests. Thread-safe. Allocations may
/// outlive it.
template <class T>
class resource {
 public:
  /// Takes ownership of the value.
  explicit resource(T value) : value_(std::make_shared<T>(std::move(value))) {}

  /// Joins the line, and returns at once. Allocates nothing once a few turns have ended.
  resource_allocation<T> acquire() {
    return resource_allocation<T>(value_, detail::turn(line_.join()));
  }

  /// Joins the line at once. When its turn comes, the task makes the queue wait for the events of
  /// the previous holder, calls a function with the value, which enqueues on that queue, and ends
  /// the turn with a marker. An error of the function is passed on to the next holder, with a
  /// marker for its commands, and thrown here.
  /// @param queue  the queue that the function enqueues on
  /// @param use    called as use(T&) on the loop's thread; if it returns a task, that is awaited
  template <class Use>
  task<> use(command_queue queue, Use use) {
    return use_turn(acquire(), std::move(queue), std::move(use));
  }

 private:
  template <class Use>
  static task<> use_turn(resource_allocation<T> turn, command_queue queue, Use use) {
    bool may_have_enqueued = false;
    try {
      T& value = co_await turn.enter(queue);
      may_have_enqueued = true;
      if constexpr (std::is_void_v<std::invoke_result_t<Use&, T&>>) {
        use(value);
      } else {
        co_await use(value);
      }
      turn.ready(queue);
    } catch (...) {
      turn.fail(std::current_exception(), may_have_enqueued ? end_of(queue) : event_list());
      throw;
    }
  }
  /// A marker; empty for a queue that accepts no more.
  static event_list end_of(command_queue& queue) noexcept {
    try {
      return queue.enqueue_marker();
    } catch (const std::exception&) {
      return {};
    }
  }

  std::shared_ptr<T> value_;
  detail::turn_line line_;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace tune
