// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "libtune/kernel/pool/compile_job.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/kernel/pool/worker_message.hpp"
#include "libtune/kernel/pool/worker_process.hpp"

namespace tune::detail {

/// What one worker is to do, and for whom.
struct crew_task {
  std::shared_ptr<compile_job> job;
  compile_order order;
  std::chrono::nanoseconds time_limit{};
};

/// One worker as its pool sees it: what it is about, until when it may be, and what has to be said
/// if it ends. Not thread-safe.
class crew_member {
 public:
  using clock = std::chrono::steady_clock;

  /// What it is about. Its deadline is for that.
  enum class state : std::uint8_t {
    starting,  ///< has not greeted, or not yet loaded its compiler: the time to start
    idle,      ///< waits for an order: the idle time
    busy,      ///< compiles: the order's time limit
    leaving,   ///< was dismissed, and is about to end by itself
    ended,     ///< the process is gone
  };

  /// Starts it. @throws std::system_error
  /// @param prepare  what to load once it has greeted; empty: nothing
  crew_member(const compile_pool_options& options, std::optional<compile_target> prepare);

  worker_process& process() noexcept { return process_; }
  state now() const noexcept { return state_; }
  clock::time_point deadline() const noexcept { return deadline_; }

  void give(crew_task task);

  /// Reads what it has to say. What it says about its task is told to the task's job.
  void listen();
  /// Ends it if it is past its deadline or has too much memory.
  void supervise();

  /// Ends it for good; its task is done as unavailable.
  void abandon(const std::string& reason) { lose(compile_result::status::unavailable, reason); }

  /// Of one that has ended: whether it did so before it was ready for work, and why.
  bool never_worked() const noexcept { return !worked_; }
  /// Whether it speaks another language, so that others of its program will not do better.
  bool is_of_another_version() const noexcept { return another_version_; }
  const std::string& last_words() const noexcept { return last_words_; }

 private:
  void enter(state next, std::chrono::nanoseconds time);
  void handle(worker_message message);
  void greet(const worker_greeting& greeting);
  void report(compile_report report);
  /// Its process is gone, or has to go.
  void lose(compile_result::status what, const std::string& reason);
  void lose_by_itself();

  const compile_pool_options& options_;
  std::optional<compile_target> prepare_;
  worker_process process_;
  state state_ = state::starting;
  clock::time_point deadline_;
  std::optional<crew_task> task_;
  bool worked_ = false;
  bool another_version_ = false;
  std::string last_words_;
};

}  // namespace tune::detail
