// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The order in which the steps of a pipeline use something that only one may use at a time: a set
// of buffers, an operation with its buffers bound. Steps get it in the order of their calls of
// acquire(), even if a later one is ready first. A step passes on the right to enqueue, with
// the events that the next one's queue has to wait for, and need not wait until the device is done.
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

/// The holder before left without saying that it was done, because of an error.
class abandoned_error : public error {
 public:
  using error::error;
};

namespace detail {

/// The end of one turn of a resource, with the events that the next one has to wait for. It ends
/// when its holder has released it and the turn before has ended, so that a turn that is given up
/// early lets nobody pass those before it, nor their device events. It cannot be cancelled.
class turn_state final : public value_state<event_list>, private future_waiter {
 public:
  explicit turn_state(state_pointer<turn_state> previous) noexcept
      : previous_(std::move(previous)) {}

  bool cancel() noexcept override { return false; }
  /// The end of the turn before; null for the first.
  const state_pointer<turn_state>& previous() const noexcept { return previous_; }
  /// The events after which the resource may be touched, once the turn has ended: by an error, too.
  const event_list& events() const noexcept { return failure() != nullptr ? events_ : value(); }
  /// Ends the turn with events, or with an error for the next one.
  /// @param is_ordered  true if these events come after those of the turn before, which else are
  ///                    passed on as well
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

/// The line of those who want a resource. Thread-safe.
class turn_line {
 public:
  /// Joins the line at its end.
  state_pointer<turn_state> join();

 private:
  std::mutex mutex_;
  state_pointer<turn_state> last_;
};

/// One turn, without the type of what it is for.
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
  /// Returns the turn to wait for; null if there is none.
  const state_pointer<turn_state>& begin();
  /// True once the holder has seen the turn before end.
  bool has_come() const noexcept;
  void release(event_list events, std::exception_ptr error);
  void leave() noexcept;

  state_pointer<turn_state> state_;  // null once released
  bool entered_ = false;             // waits, or has waited
  int exceptions_;                   // under way when it was made
};

}  // namespace detail

/// A place in the line for a resource, and then the right to use it. Movable; used by one thread at
/// a time. If it ends without ready() or fail(), the next one gets the resource all the same, and
/// the device events of those before: after an exception, with abandoned_error; with a warning if
/// its turn had come.
template <class T>
class resource_allocation {
 public:
  /// For libtune's own code; users call resource::acquire.
  resource_allocation(std::shared_ptr<T> value, detail::turn turn) noexcept
      : value_(std::move(value)), turn_(std::move(turn)) {}

  /// Ends when the turn has come, with the device events after which the resource may be touched;
  /// or with the error that the holder before passed on: then enter() or wait_events() waits for
  /// the events before it throws the same. Cancelling it has no effect. Only who takes the result,
  /// by co_await or get(), is taken to have waited: else the next one gets these events, too.
  future<event_list> wait() { return turn_.wait(); }
  /// Waits for the turn, then until the host may touch the resource: until these events have ended.
  /// @throws the error that the holder before passed on, afterwards; device_error
  task<T&> wait_events() {
    co_await turn_.wait_events();
    co_return *value_;
  }
  /// Waits for the turn, then lets what is enqueued on a queue from now on wait for those events.
  /// @throws as wait_events
  task<T&> enter(command_queue queue) {
    co_await turn_.enter(std::move(queue));
    co_return *value_;
  }
  /// The same for a thread that may block. @throws as wait_events
  T& enter_blocking(command_queue& queue) {
    turn_.enter_blocking(queue);
    return *value_;
  }

  /// The resource, which may be used between the turn's coming and ready().
  T& value() const noexcept { return *value_; }

  /// Ends the turn: the next one may use the resource after these events.
  /// @throws argument_error if the turn has been ended
  void ready(event_list events = {}) { turn_.ready(std::move(events)); }
  /// Ends the turn: the next one may use the resource when a queue has got as far as it is now.
  void ready(command_queue& queue) { turn_.ready(queue.enqueue_marker()); }
  /// Ends the turn with an error, which the next one meets when it waits. The device events of
  /// those before go with it, so that a next one that handles the error may use the resource.
  /// @throws argument_error if the turn has been ended
  void fail(std::exception_ptr error) { turn_.fail(std::move(error)); }
  /// The same with events of this one, for what it has enqueued before it failed.
  void fail(std::exception_ptr error, event_list events) {
    turn_.fail(std::move(error), std::move(events));
  }
  /// True once ready() or fail() was called.
  bool is_released() const noexcept { return turn_.is_released(); }

 private:
  std::shared_ptr<T> value_;
  detail::turn turn_;
};

// GCC takes the frame of a coroutine that has a lambda for a type with external linkage.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

/// Something that one may use at a time, in the order of asking. Thread-safe. Allocations may
/// outlive it.
template <class T>
class resource {
 public:
  /// Takes over the value.
  explicit resource(T value) : value_(std::make_shared<T>(std::move(value))) {}

  /// Joins the line, and returns at once. Allocates nothing once a few turns have ended.
  resource_allocation<T> acquire() {
    return resource_allocation<T>(value_, detail::turn(line_.join()));
  }

  /// Joins the line now. When its turn comes, the task lets the queue wait for the events of the
  /// holder before, calls a function with the value, which enqueues on that queue, and ends the
  /// turn with a marker. An error of the function is passed on to the next holder, with a marker
  /// for what it has enqueued, and thrown here.
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
  /// A marker; nothing of a queue that takes none any more.
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
