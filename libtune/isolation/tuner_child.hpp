// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>

#include "libtune/compile/child_process.hpp"
#include "libtune/isolation/tuner_message.hpp"
#include "libtune/isolation/tuner_program.hpp"

namespace tune::detail {

/// The variable that tells a program that it is such a child: it holds the number of its parent.
/// It is for the two of them alone, so no setting, and gone as soon as it has been read.
inline constexpr const char* tuner_variable = "LIBTUNE_TUNER_OF";

/// A child process that tunes, and the conversation with it. It ends with this object. Not
/// thread-safe; the thread that makes it has to outlive it.
class tuner_child {
 public:
  using clock = std::chrono::steady_clock;

  /// @throws std::system_error if the program cannot be run
  explicit tuner_child(const tuner_program& program);

  /// @throws wire_error if the message is too long
  void send(const tuner_message& message) { process_.send(encode(message)); }
  /// The next message, waiting until then at most; empty if none has come, or none will.
  /// @throws wire_error if what came means nothing
  std::optional<tuner_message> next(clock::time_point until);
  /// Whether no more messages will come.
  bool has_ended() const noexcept { return !open_; }

  ::pid_t id() const noexcept { return process_.id(); }

  /// Kills it if it still runs. May be called once.
  child_process::end finish() { return process_.finish(); }

 private:
  void wait(clock::time_point until);

  child_process process_;
  tuner_message_reader reader_;
  bool open_ = true;
};

}  // namespace tune::detail
