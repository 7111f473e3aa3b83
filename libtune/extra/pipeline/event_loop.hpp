// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <exception>
#include <mutex>
#include <type_traits>
#include <utility>

#include "libtune/extra/pipeline/future.hpp"
#include "libtune/extra/pipeline/task.hpp"

namespace tune {

namespace detail {

class event_wait;

/// The future of a spawned task.
template <class T>
class spawned_state final : public value_state<T>, public root_task {
 public:
  explicit spawned_state(event_loop& loop) noexcept : root_task(loop) {}

  bool cancel() noexcept override {
    if (this->is_ready()) return false;
    request_cancel();
    return true;
  }
  void end_without_result(std::exception_ptr error) noexcept {
    try {
      std::rethrow_exception(error);
    } catch (const cancelled_error&) {
      this->end_cancelled();
    } catch (...) {
      this->fail(error);
    }
  }

 private:
  void hold() noexcept override { this->add_reference(); }
  void let_go() noexcept override { this->release(); }
  void destroy() noexcept override { give_back_state(this); }
};

/// The coroutine around a spawned task. No other coroutine awaits it.
class spawned_coroutine {
 public:
  class promise_type;

  explicit spawned_coroutine(std::coroutine_handle<promise_type> coroutine) noexcept
      : coroutine_(coroutine) {}
  std::coroutine_handle<promise_type> coroutine() const noexcept { return coroutine_; }

 private:
  std::coroutine_handle<promise_type> coroutine_;
};

class spawned_coroutine::promise_type final : public promise_base, public loop_job {
 public:
  spawned_coroutine get_return_object() noexcept {
    return spawned_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
  }
  std::suspend_always initial_suspend() const noexcept { return {}; }
  std::suspend_never final_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  void unhandled_exception() const noexcept { std::terminate(); }
  void run() noexcept override {
    std::coroutine_handle<promise_type>::from_promise(*this).resume();
  }
};

template <class T>
spawned_coroutine run_spawned(task<T> spawned, state_pointer<spawned_state<T>> state);

}  // namespace detail

/// The waiting of a loop's thread while all tasks wait.
enum class loop_wait {
  asleep,  ///< it sleeps; a thread of event_waiter::shared() waits for device events
  /// The thread polls, and uses a whole core: no task waits for the system's scheduler, which in a
  /// virtual machine takes up to milliseconds. The loop itself serves wait_for_events on this
  /// thread; its future ends only while the loop runs, so a task may await it, but not block in
  /// get().
  polling,
};

/// Runs tasks on the thread that calls run, and sleeps or polls while all of them wait. Any thread
/// may call spawn() and stop(); the other functions are for one thread at a time.
class event_loop {
 public:
  /// @param how  the waiting while no task can continue
  explicit event_loop(loop_wait how = loop_wait::asleep) noexcept
      : polls_(how == loop_wait::polling) {}
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;
  /// Cancels the unfinished tasks, and runs until they have ended. A polling loop then blocks until
  /// its device events have ended.
  ~event_loop();

  /// Adds a task, which starts in the next run of the loop. Tasks run in the order in which they
  /// were spawned or became ready. @return its result; cancelling it cancels the task at its wait
  template <class T>
  future<T> spawn(task<T> spawned);

  /// Spawns a task, and runs the loop until it has ended. @return its result
  /// @throws the task's error; argument_error if the loop is running
  template <class T>
  T run(task<T> spawned) {
    const future<T> result = spawn(std::move(spawned));
    run_until(result);
    return result.get();
  }
  /// Runs the loop until a future has a result or an error. @throws argument_error as run()
  template <class T>
  void run_until(const future<T>& end) {
    run_until_ready(*end.state());
  }
  /// Runs the loop until stop() is called. @throws argument_error as run(task)
  void run();
  /// Makes run() return after the tasks that are ready now; if it is not running, the next run().
  void stop() noexcept;

  /// For libtune's own code only.
  void post(detail::loop_job& job) noexcept;
  /// For libtune's own code only, on the loop's thread.
  void add_timer(detail::loop_timer& timer, std::chrono::steady_clock::time_point time) noexcept;
  /// For libtune's own code only, on the loop's thread.
  void remove_timer(detail::loop_timer& timer) noexcept;
  /// For libtune's own code only: the polling loop that this thread is running; else null.
  static event_loop* polling_here() noexcept;
  /// For libtune's own code only, on the thread of a polling loop: polls until the wait has ended.
  void add_poll(const detail::state_pointer<detail::event_wait>& wait) noexcept;

 private:
  template <class T>
  friend detail::spawned_coroutine detail::run_spawned(
      task<T>, detail::state_pointer<detail::spawned_state<T>>);

  class run_claim;

  void run_until_ready(detail::future_state& end);
  void run_once(bool until_stopped = false) noexcept;
  void run_timers() noexcept;
  void poll() noexcept;
  void poll_until_change() noexcept;
  detail::loop_job* take_jobs(bool until_stopped) noexcept;
  void begin(detail::root_task& root, detail::loop_job& first_step) noexcept;
  void end(detail::root_task& root) noexcept;

  const bool polls_;
  std::atomic<bool> changes_{false};  // a job was posted since the jobs were last taken
  std::mutex mutex_;                  // guards the next six members
  std::condition_variable changed_;
  detail::loop_job* first_ = nullptr;
  detail::loop_job* last_ = nullptr;
  detail::root_task* roots_ = nullptr;
  bool stopped_ = false;
  bool running_ = false;
  // For the loop's thread only:
  detail::loop_timer* timers_ = nullptr;
  detail::event_wait* polled_ = nullptr;  // each holds a reference
};

template <class T>
future<T> event_loop::spawn(task<T> spawned) {
  auto state = detail::make_state<detail::spawned_state<T>>(*this);
  const auto outer = detail::run_spawned<T>(std::move(spawned), state);
  outer.coroutine().promise().root = state.get();
  begin(*state, outer.coroutine().promise());
  return future<T>(state);
}

namespace detail {

template <class T>
spawned_coroutine run_spawned(task<T> spawned, state_pointer<spawned_state<T>> state) {
  bool is_in_loop = true;
  const auto leave_loop = [&] {
    if (std::exchange(is_in_loop, false)) state->loop().end(*state);
  };
  try {
    if (state->take_cancel()) throw cancelled_error("the task was cancelled before it began");
    if constexpr (std::is_void_v<T>) {
      co_await std::move(spawned);
      leave_loop();
      state->set();
    } else {
      T result = co_await std::move(spawned);
      leave_loop();
      state->set(std::move(result));  // may throw
    }
    co_return;
  } catch (...) {
    leave_loop();
    state->end_without_result(std::current_exception());
  }
}

}  // namespace detail

}  // namespace tune
