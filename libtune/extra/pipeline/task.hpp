// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Coroutines that wait for devices without blocking a thread. A task runs when another one awaits
// it or when it is spawned on an event_loop; all tasks of a loop run on the thread that runs the
// loop, one at a time, so they need no locks among themselves. They may co_await tasks, and
// futures, which any thread may end. Frames of coroutines use recycled memory.
//
//   tune::task<> frame(pipeline& p) {
//     p.enqueue();
//     co_await tune::wait_for_events(p.queue.enqueue_marker());
//     p.send();
//   }
//   tune::event_loop loop;
//   loop.run(frame(p));
#pragma once

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "libtune/extra/pipeline/future.hpp"

namespace tune {

class event_loop;
template <class T>
class task;

namespace detail {

/// A job for the thread of a loop; a list node in the object that requests it.
class loop_job {
 public:
  loop_job() = default;
  loop_job(const loop_job&) = delete;
  loop_job& operator=(const loop_job&) = delete;
  virtual void run() noexcept = 0;

 protected:
  virtual ~loop_job() = default;

 private:
  friend class tune::event_loop;
  loop_job* next_ = nullptr;
};

/// A time for a job of a loop's thread; in a list sorted by time.
class loop_timer {
 public:
  loop_timer() = default;
  loop_timer(const loop_timer&) = delete;
  loop_timer& operator=(const loop_timer&) = delete;
  virtual void expire() noexcept = 0;

 protected:
  virtual ~loop_timer() = default;

 private:
  friend class tune::event_loop;
  std::chrono::steady_clock::time_point time_;
  loop_timer* previous_ = nullptr;
  loop_timer* next_ = nullptr;
  bool waits_ = false;
};

class future_wait;

/// A spawned task, with all the tasks that it awaits. Only request_cancel may be called by other
/// threads than the loop's.
class root_task : private loop_job {
 public:
  explicit root_task(event_loop& loop) noexcept : loop_(&loop) {}

  event_loop& loop() const noexcept { return *loop_; }
  /// The wait in which the task is suspended; null while it runs.
  void set_wait(future_wait* wait) noexcept { wait_ = wait; }
  /// Makes the present or next wait of the task throw cancelled_error. Thread-safe.
  void request_cancel() noexcept;
  /// True from a request until take_cancel().
  bool is_cancel_due() const noexcept { return cancel_; }
  bool take_cancel() noexcept { return std::exchange(cancel_, false); }

 protected:
  ~root_task() override = default;
  /// Keeps the object during a request.
  virtual void hold() noexcept = 0;
  virtual void let_go() noexcept = 0;

 private:
  friend class tune::event_loop;
  void run() noexcept final;

  event_loop* loop_;
  future_wait* wait_ = nullptr;
  std::atomic<bool> requested_{false};
  bool cancel_ = false;
  root_task* previous_ = nullptr;  // among the tasks of the loop
  root_task* next_ = nullptr;
};

/// The promises of all coroutines here.
class promise_base {
 public:
  // NOLINTNEXTLINE(misc-new-delete-overloads): the delete with a size belongs to it
  static void* operator new(std::size_t bytes) { return take_recycled(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    give_back_recycled(frame, bytes);
  }

  root_task* root = nullptr;
};

/// A coroutine that waits for a future, perhaps until a deadline.
class future_wait : private future_waiter, private loop_job, private loop_timer {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  future_wait(state_pointer<future_state> state, std::optional<time_point> deadline) noexcept
      : state_(std::move(state)), deadline_(deadline) {}

  bool await_ready() const noexcept { return state_->is_ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) noexcept {
    root_ = coroutine.promise().root;
    coroutine_ = coroutine;
    return begin();
  }
  /// Leaves the future and resumes. @return false if the future has ended, and the loop will resume
  /// it
  bool cancel() noexcept;

 protected:
  ~future_wait() override = default;
  /// @throws deadline_error, cancelled_error, or the error of the future
  void check() const;

 private:
  bool begin() noexcept;
  void resume() noexcept;
  void notify() noexcept override;
  void run() noexcept override { resume(); }
  void expire() noexcept override;

  state_pointer<future_state> state_;
  std::optional<time_point> deadline_;
  root_task* root_ = nullptr;
  std::coroutine_handle<> coroutine_;
  bool expired_ = false;
};

template <class T>
class typed_future_wait final : public future_wait {
 public:
  typed_future_wait(future<T> waited, std::optional<time_point> deadline) noexcept
      : future_wait(waited.state(), deadline), future_(std::move(waited)) {}

  T await_resume() const {
    check();
    return future_.get();
  }

 private:
  future<T> future_;
};

/// Awaits the end of a state of any type, and leaves its result or error in the state. await_resume
/// throws only cancelled_error.
class end_wait final : public future_wait {
 public:
  explicit end_wait(state_pointer<future_state> awaited) noexcept
      : future_wait(std::move(awaited), std::nullopt) {}
  void await_resume() const { check(); }
};

/// The promise of a task, without its result.
class task_promise_base : public promise_base {
 public:
  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      return ended.promise().continuation;
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }

  std::coroutine_handle<> continuation;
  std::exception_ptr error;
};

template <class T>
class task_promise final : public task_promise_base {
 public:
  task<T> get_return_object() noexcept;
  template <class Value>
  void return_value(Value&& value) {
    value_.emplace(std::forward<Value>(value));
  }
  T result() {
    if (error != nullptr) std::rethrow_exception(error);
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <class T>
class task_promise<T&> final : public task_promise_base {
 public:
  task<T&> get_return_object() noexcept;
  void return_value(T& value) noexcept { value_ = &value; }
  T& result() {
    if (error != nullptr) std::rethrow_exception(error);
    return *value_;
  }

 private:
  T* value_ = nullptr;
};

template <>
class task_promise<void> final : public task_promise_base {
 public:
  task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void result() const {
    if (error != nullptr) std::rethrow_exception(error);
  }
};

/// Runs a task within the awaiting one.
template <class T>
class task_wait {
 public:
  explicit task_wait(std::coroutine_handle<task_promise<T>> coroutine) noexcept
      : coroutine_(coroutine) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) const noexcept {
    coroutine_.promise().root = parent.promise().root;
    coroutine_.promise().continuation = parent;
    return coroutine_;
  }
  T await_resume() const { return coroutine_.promise().result(); }

 private:
  std::coroutine_handle<task_promise<T>> coroutine_;
};

}  // namespace detail

/// A coroutine that begins when it is awaited or spawned, and returns a T. It owns its frame: a
/// task that is destroyed before its start does nothing. Movable.
template <class T = void>
class [[nodiscard]] task {
 public:
  /// The promise type, under the name that std::coroutine_traits expects.
  using promise_type = detail::task_promise<T>;

  /// For libtune's own code only.
  explicit task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}
  /// The moved-from task may only be destroyed or assigned to.
  task(task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  /// The previous task is destroyed with the other object.
  task& operator=(task&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  task(const task&) = delete;
  task& operator=(const task&) = delete;
  ~task() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Runs it within the awaiting task, and returns its result or throws its error.
  detail::task_wait<T> operator co_await() && noexcept { return detail::task_wait<T>(coroutine_); }

 private:
  std::coroutine_handle<promise_type> coroutine_;
};

namespace detail {

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}
template <class T>
task<T&> task_promise<T&>::get_return_object() noexcept {
  return task<T&>(std::coroutine_handle<task_promise>::from_promise(*this));
}
inline task<void> task_promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

}  // namespace detail

/// Lets a task await a future. @throws the future's error, cancelled_error
template <class T>
detail::typed_future_wait<T> operator co_await(future<T> waited) noexcept {
  return {std::move(waited), std::nullopt};
}

/// Lets a task await a future until a deadline, as in co_await wait_until(result, deadline). After
/// it the future is cancelled (shield() protects it). @throws deadline_error, and as above
template <class T>
detail::typed_future_wait<T> wait_until(future<T> waited,
                                        std::chrono::steady_clock::time_point deadline) noexcept {
  return {std::move(waited), deadline};
}

}  // namespace tune
