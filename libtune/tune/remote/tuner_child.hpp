// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "libtune/process/child_process.hpp"
#include "libtune/tune/remote/tuner_message.hpp"
#include "libtune/tune/remote/tuner_program.hpp"

namespace tune::detail {

/// The variable that tells a program that it is such a child: it holds the number of its parent.
/// It is for the two of them alone, so no setting, and gone as soon as it has been read.
inline constexpr const char* tuner_variable = "LIBTUNE_TUNER_OF";

/// And one that stays in the environment of all that it starts, by which these are found.
inline constexpr const char* tuner_mark_variable = "LIBTUNE_TUNER_MARK";

/// A child process that tunes, and the conversation with it. It ends with this object, and with it
/// whatever it has started, in whatever session, that has its environment. Not thread-safe; the
/// thread that makes it has to outlive it.
class tuner_child {
 public:
  using clock = std::chrono::steady_clock;

  /// @throws std::system_error if the program cannot be run
  explicit tuner_child(const tuner_program& program);
  ~tuner_child();
  tuner_child(const tuner_child&) = delete;
  tuner_child& operator=(const tuner_child&) = delete;

  /// @throws wire_error if the message is too long
  void send(const tuner_message& message) { process_.send(encode(message)); }
  /// The next message, waiting until then at most, and longer by the time in which this process did
  /// not run; empty if none has come, or none will.
  /// @throws wire_error if what came means nothing
  std::optional<tuner_message> next(clock::time_point until);
  /// Whether no more messages will come. What has come before that has been given.
  bool has_ended() const noexcept { return !open_; }
  /// Whether a signal or a debugger has stopped it.
  bool is_stopped() const;

  ::pid_t id() const noexcept { return process_.id(); }

  /// Kills it if it does not end by itself in that time, and what it has started. May be called
  /// once.
  child_process::end finish(std::chrono::milliseconds patience = {});

 private:
  tuner_child(const tuner_program& program, std::string mark);
  clock::duration wait(clock::time_point until);

  std::string mark_;
  child_process process_;
  tuner_message_reader reader_;
  bool open_ = true;
};

}  // namespace tune::detail
