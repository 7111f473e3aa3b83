// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/child/tuner_message.hpp"
#include "libtune/process/child_process.hpp"

namespace tune::detail {

/// A child process that tunes, and the messages to and from it. The destructor ends it, together
/// with all processes that it has started and that have its environment, in any session. Not
/// thread-safe; the thread that makes it must outlive it.
class tuner_child {
 public:
  using clock = std::chrono::steady_clock;

  /// @throws std::system_error if the program cannot be run
  explicit tuner_child(const tuner_program& program);
  ~tuner_child();
  tuner_child(const tuner_child&) = delete;
  tuner_child& operator=(const tuner_child&) = delete;

  /// Waits for the handshake, and checks the version of the child.
  /// @param time  the longest wait
  /// @throws tuner_unavailable_error for another version, or after the time; wire_error
  void shake_hands(std::chrono::milliseconds time);

  /// @throws wire_error if the message is too long
  void send(const tuner_message& message) { process_.send(encode(message)); }
  /// Returns the next message; empty if none has arrived by then, or none will arrive. Time in
  /// which this process did not run does not count.
  /// @throws wire_error if it is invalid
  std::optional<tuner_message> next(clock::time_point until);
  /// True if no more messages will arrive, and all that have arrived have been returned.
  bool has_ended() const noexcept { return !open_; }
  /// True if a signal or a debugger has stopped it.
  bool is_stopped() const;

  ::pid_t id() const noexcept { return process_.id(); }

  /// Waits for the end of the child, then kills it and all processes that it has started. May be
  /// called once. @param patience  the longest wait
  child_process::end finish(std::chrono::milliseconds patience = {});

 private:
  tuner_child(const tuner_program& program, std::string mark);
  clock::duration wait(clock::time_point until);

  std::string mark_;
  child_process process_;
  tuner_message_reader reader_;
  bool open_ = true;
};

/// A child process that serves one search after the other, because starting one and opening the
/// device again takes as long as a short search, and may delay a running application. Used by one
/// thread.
class kept_child {
 public:
  /// Returns the child of this program, and passes its ownership to the search; null without one.
  std::unique_ptr<tuner_child> take(const tuner_program& program);
  /// Keeps a child that waits for its next request.
  void keep(const tuner_program& program, std::unique_ptr<tuner_child> idle);
  /// Ends the child, unless a search has it.
  void end() noexcept { child_.reset(); }
  /// The kept process; -1 without one.
  ::pid_t id() const noexcept { return child_ ? child_->id() : -1; }

 private:
  tuner_program program_;
  std::unique_ptr<tuner_child> child_;
};

}  // namespace tune::detail
