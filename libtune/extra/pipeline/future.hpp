// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Results that are not available yet, for threads that block and for coroutines (task.hpp). They
// differ from std::future in three ways: many may wait for one, a wait may have a deadline or be
// cancelled, and their memory is reused, so that a running pipeline allocates nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "libtune/base/cxx20.hpp"
#include "libtune/base/error.hpp"

namespace tune {

/// The result of a future will never come: it was cancelled, or its promise ended without one.
class cancelled_error : public error {
 public:
  using error::error;
};

/// The deadline of a wait passed before the result came.
class deadline_error : public error {
 public:
  using error::error;
};

namespace detail {

/// Memory for the states of futures and the frames of coroutines: returned blocks are reused, so
/// that a pipeline allocates nothing once it has run a few frames. The process keeps the blocks
/// until it ends. More than 4096 bytes come from the heap. Thread-safe.
/// @throws std::bad_alloc
void* take_recycled(std::size_t bytes);

/// Returns a block of take_recycled with this size.
void give_back_recycled(void* memory, std::size_t bytes) noexcept;

/// A list node in an object that waits for a future.
class future_waiter {
 public:
  future_waiter() = default;
  future_waiter(const future_waiter&) = delete;
  future_waiter& operator=(const future_waiter&) = delete;

  /// Called once, on the thread that ends the future, without any lock. Waiters of futures that it
  /// ends are notified after it has returned.
  virtual void notify() noexcept = 0;

 protected:
  virtual ~future_waiter() = default;

 private:
  friend class future_state;
  future_waiter* next_ = nullptr;
};

/// The result that a promise and its futures share, without its type. Thread-safe.
class future_state {
 public:
  future_state() = default;
  future_state(const future_state&) = delete;
  future_state& operator=(const future_state&) = delete;

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

  bool is_ready() const noexcept { return ready_.load(std::memory_order_acquire); }
  bool is_cancelled() const noexcept { return is_ready() && cancelled_; }

  void wait();
  /// @return false if the deadline came first
  bool wait_until(std::chrono::steady_clock::time_point deadline);

  /// Adds a waiter, which must stay valid until it was notified or removed.
  /// @return false if the result is available, and the waiter was not added
  bool add_waiter(future_waiter& waiter) noexcept;
  /// @return false if the waiter has been or is being notified
  bool remove_waiter(future_waiter& waiter) noexcept;

  /// Ends the state with an error. @return false if it had already ended
  bool fail(std::exception_ptr error) noexcept;
  /// Requests an end without a result. @return false if that is impossible, or too late
  virtual bool cancel() noexcept { return end_cancelled(); }

  /// Marks the result as taken: to be called by each caller that takes it, once it is available.
  /// @throws the error that the state ended with, or cancelled_error
  void rethrow_failure() const;
  /// True once the result, or the error, was taken.
  bool is_taken() const noexcept { return is_taken_.load(std::memory_order_relaxed); }
  /// The error that it ended with; null for a result, and before the end.
  std::exception_ptr failure() const noexcept;

 protected:
  virtual ~future_state() = default;
  virtual void destroy() noexcept = 0;

  bool end_cancelled() noexcept;
  /// Ends the state after calling store under the lock. @return false if it had already ended
  template <class Store>
  bool end(Store&& store) {
    std::unique_lock lock(mutex_);
    if (is_ready()) return false;
    store();
    notify_all(lock);
    return true;
  }

 private:
  void notify_all(std::unique_lock<std::mutex>& lock) noexcept;
  static void notify_left() noexcept;

  std::atomic<int> references_{1};
  std::atomic<bool> ready_{false};
  bool cancelled_ = false;
  mutable std::atomic<bool> is_taken_{false};
  std::exception_ptr error_;
  std::mutex mutex_;
  std::condition_variable ended_;
  future_waiter* first_ = nullptr;
};

/// Counts the references of a state.
template <class State>
class state_pointer {
 public:
  state_pointer() noexcept = default;
  /// Takes ownership of one reference.
  explicit state_pointer(State* state) noexcept : state_(state) {}
  state_pointer(const state_pointer& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) state_->add_reference();
  }
  template <class Derived>
  // NOLINTNEXTLINE(google-explicit-constructor): it converts as a plain pointer does
  requires std::is_convertible_v<Derived*, State*> state_pointer(
      const state_pointer<Derived>& other)
  noexcept : state_(other.get()) {
    if (state_ != nullptr) state_->add_reference();
  }
  state_pointer(state_pointer&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  state_pointer& operator=(state_pointer other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~state_pointer() {
    if (state_ != nullptr) state_->release();
  }

  State* get() const noexcept { return state_; }
  State* operator->() const noexcept { return state_; }
  State& operator*() const noexcept { return *state_; }
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  State* state_ = nullptr;
};

/// Makes a state in recycled memory; its destroy() calls give_back_state.
template <class State, class... Arguments>
state_pointer<State> make_state(Arguments&&... arguments) {
  void* memory = take_recycled(sizeof(State));
  try {
    return state_pointer<State>(::new (memory) State(std::forward<Arguments>(arguments)...));
  } catch (...) {
    give_back_recycled(memory, sizeof(State));
    throw;
  }
}

template <class State>
void give_back_state(State* state) noexcept {
  state->~State();
  give_back_recycled(state, sizeof(State));
}

/// A state with the type of its result.
template <class T>
class value_state : public future_state {
 public:
  /// @return false if the state had already ended
  template <class... Arguments>
  bool set(Arguments&&... arguments) {
    return end([&] { value_.emplace(std::forward<Arguments>(arguments)...); });
  }
  const T& value() const { return *value_; }

 protected:
  void destroy() noexcept override { give_back_state(this); }

 private:
  std::optional<T> value_;
};

template <>
class value_state<void> : public future_state {
 public:
  bool set() {
    return end([] {});
  }

 protected:
  void destroy() noexcept override { give_back_state(this); }
};

}  // namespace detail

/// A result that may still be missing. A handle: copies refer to the same result. Thread-safe.
template <class T = void>
class future {
 public:
  /// Refers to no result; only valid() and assignment are allowed.
  future() noexcept = default;
  /// For libtune's own code only; users get futures from promises, loops, resources and events.
  explicit future(detail::state_pointer<detail::value_state<T>> state) noexcept
      : state_(std::move(state)) {}

  /// True unless it refers to no result.
  bool valid() const noexcept { return static_cast<bool>(state_); }
  /// True once a result or an error is available.
  bool is_ready() const noexcept { return state_->is_ready(); }
  /// True if it ended by cancel(), or because its promise ended without a result.
  bool is_cancelled() const noexcept { return state_->is_cancelled(); }

  /// Blocks until a result or an error is available. Not for coroutines, which co_await it.
  void wait() const { state_->wait(); }
  /// Blocks as wait(), or until the deadline. @return false if the deadline came first
  bool wait_until(std::chrono::steady_clock::time_point deadline) const {
    return state_->wait_until(deadline);
  }

  /// Waits, and returns the result, which stays in the future.
  /// @throws the error that it ended with, cancelled_error
  // NOLINTNEXTLINE(readability-const-return-type): of void it is const void
  std::add_lvalue_reference_t<const T> get() const {
    wait();
    state_->rethrow_failure();
    if constexpr (!std::is_void_v<T>) return state_->value();
  }
  /// Like get(), until a deadline. After it the future is cancelled (shield() protects it).
  /// @throws deadline_error, and as get()
  std::add_lvalue_reference_t<const T> get_until(
      std::chrono::steady_clock::time_point deadline) const {
    if (!wait_until(deadline)) {
      cancel();
      throw deadline_error("no result came before the deadline");
    }
    return get();
  }

  /// Requests an end without a result: a task is cancelled at its wait, another future ends at
  /// once. The turn of a resource and a shielded future cannot be cancelled.
  /// @return false if it has ended, or cannot be cancelled
  bool cancel() const noexcept { return state_->cancel(); }

  /// For libtune's own code only.
  const detail::state_pointer<detail::value_state<T>>& state() const noexcept { return state_; }

  /// True if both refer to the same result.
  friend bool operator==(const future& a, const future& b) noexcept {
    return a.state_.get() == b.state_.get();
  }

 private:
  detail::state_pointer<detail::value_state<T>> state_;
};

/// The side of a future that sets its result. Movable; thread-safe except for moves.
template <class T = void>
class promise {
 public:
  /// A promise whose future has no result yet.
  promise() : state_(detail::make_state<detail::value_state<T>>()) {}
  /// The moved-from promise may only be destroyed or assigned to.
  promise(promise&&) noexcept = default;
  /// Ends its previous future with cancelled_error, if that has no result.
  promise& operator=(promise&& other) noexcept {
    promise(std::move(other)).swap(*this);
    return *this;
  }
  promise(const promise&) = delete;
  promise& operator=(const promise&) = delete;
  /// Without a result, the future ends with cancelled_error.
  ~promise() {
    if (state_) state_->cancel();
  }

  /// The future of this promise; the same one at each call.
  future<T> get_future() const { return future<T>(state_); }
  /// Sets the result, made from these arguments.
  /// @return false if the future had already ended, for example by cancellation
  template <class... Arguments>
  bool set(Arguments&&... arguments) {
    return state_->set(std::forward<Arguments>(arguments)...);
  }
  /// Sets an error instead. @return as set()
  bool fail(std::exception_ptr error) { return state_->fail(std::move(error)); }

 private:
  void swap(promise& other) noexcept { std::swap(state_, other.state_); }

  detail::state_pointer<detail::value_state<T>> state_;
};

namespace detail {

/// Ends with the result of another future. Cancelling it does not cancel the other one.
template <class T>
class shielding_state final : public value_state<T>, private future_waiter {
 public:
  explicit shielding_state(future<T> shielded) : shielded_(std::move(shielded)) {}

  void start() noexcept {
    this->add_reference();  // until it is notified
    if (!shielded_.state()->add_waiter(*this)) notify();
  }

 private:
  void notify() noexcept override {
    if (shielded_.is_cancelled()) {
      this->end_cancelled();
    } else if (const std::exception_ptr error = shielded_.state()->failure()) {
      this->fail(error);
    } else if constexpr (std::is_void_v<T>) {
      this->set();
    } else {
      try {
        this->set(shielded_.state()->value());
      } catch (...) {
        this->fail(std::current_exception());
      }
    }
    shielded_ = {};
    this->release();
  }
  void destroy() noexcept override { give_back_state(this); }

  future<T> shielded_;
};

}  // namespace detail

/// A future with the same result, which must be copyable. Its cancellation or deadline does not
/// cancel the other one.
template <class T>
future<T> shield(const future<T>& shielded) {
  auto state = detail::make_state<detail::shielding_state<T>>(shielded);
  state->start();
  return future<T>(state);
}

}  // namespace tune
