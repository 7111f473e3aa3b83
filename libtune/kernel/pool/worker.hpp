// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "libtune/kernel/pool/compile_future.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/kernel/pool/worker_message.hpp"
#include "libtune/process/child_process.hpp"

namespace tune::detail {

/// An order for a worker, and its job.
struct worker_task {
  std::shared_ptr<compile_job> job;
  compile_order order;
  std::chrono::nanoseconds time_limit{};
};

/// One worker: a child process that compiles, its state with a deadline, and the reason for its
/// end. The process ends with this object. Not thread-safe; child_process names the threads that
/// may start one.
class worker {
 public:
  using clock = std::chrono::steady_clock;

  /// The states of a worker, each with its own deadline.
  enum class state : std::uint8_t {
    starting,  ///< has not greeted, or not loaded its compiler yet: the start time
    idle,      ///< waits for an order: the idle time
    busy,      ///< compiles: the order's time limit
    leaving,   ///< was dismissed, and is about to end by itself
    ended,     ///< the process has ended
  };

  /// Starts the process. @throws std::system_error
  /// @param prepare  the compiler to load after the greeting; empty: none
  worker(const compile_pool_options& options, std::optional<compile_target> prepare);

  int socket() const noexcept { return process_.socket(); }
  bool has_unsent() const noexcept { return process_.has_unsent(); }
  /// Sends unsent bytes that the socket accepts now.
  void flush() { process_.flush(); }
  state now() const noexcept { return state_; }
  clock::time_point deadline() const noexcept { return deadline_; }

  void give(worker_task task);

  /// Reads its messages. Reports are passed to the job of its task.
  void listen();
  /// Ends it if it has passed its deadline or uses too much memory.
  void supervise();

  /// Ends it for good; its task ends as unavailable.
  void abandon(const std::string& reason) { lose(compile_result::status::unavailable, reason); }

  /// True if it has never been ready for work.
  bool never_worked() const noexcept { return !worked_; }
  /// True if its program has another version, as further workers would have.
  bool is_of_another_version() const noexcept { return another_version_; }
  /// The reason for its end.
  const std::string& end_reason() const noexcept { return end_reason_; }

 private:
  void enter(state next, std::chrono::nanoseconds time);
  void handle(worker_message message);
  void greet(const worker_greeting& greeting);
  void report(compile_report report);
  void send(const worker_message& message) { process_.send(encode(message)); }
  /// Ends it, and its task with this result.
  void lose(compile_result::status what, const std::string& reason);
  void lose_by_itself();

  const compile_pool_options& options_;
  std::optional<compile_target> prepare_;
  child_process process_;
  worker_message_reader reader_;
  state state_ = state::starting;
  clock::time_point deadline_;
  std::optional<worker_task> task_;
  bool worked_ = false;
  bool another_version_ = false;
  std::string end_reason_;
};

}  // namespace tune::detail
