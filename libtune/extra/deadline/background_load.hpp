// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Runs an engine on a thread of its own, again and again, while another engine of the same card is
/// tuned: the measurements then have its load on memory, caches and clocks beside them.
///
///   auto parts = device.divide({64});
///   tune::background_load load([&] { transform.run_frame(); });  // on parts[1]
///   correlator_template correlator(on_first_part, {.beside = "transform"});
///
/// Results do not know of the load by themselves: the author of the key gives it a member for the
/// load, or keeps the results in a database of their own (tuning_options::database). Searches have
/// to run in this process (isolation_mode::off), because a GPU does not run two processes at the
/// same time.
///
/// Used by one thread, which is not that of the load.
class background_load {
 public:
  /// Starts the load and returns when the first step has ended.
  /// @param step  enqueues a piece of the work, such as a frame, and waits for its end. It works on
  ///              a queue of its own and takes no part in the search
  /// @throws argument_error if it is empty; an exception of its first call
  explicit background_load(std::function<void()> step);
  /// Waits for the step that is under way.
  ~background_load();
  background_load(const background_load&) = delete;
  background_load& operator=(const background_load&) = delete;

  /// The number of steps that have ended.
  std::size_t steps() const noexcept { return steps_.load(std::memory_order_relaxed); }
  /// Throws the exception of a step, if there was one: it has ended the load, and a search beside
  /// it has measured without.
  void check() const;

 private:
  void work(const std::function<void()>& step) noexcept;

  std::atomic<std::size_t> steps_{0};
  std::atomic<bool> ends_{false};
  mutable std::mutex mutex_;
  std::exception_ptr failure_;  // guarded by the mutex
  std::thread thread_;
};

}  // namespace tune
