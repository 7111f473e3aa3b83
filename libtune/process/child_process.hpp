// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// What a child process is to run.
struct child_command {
  std::string program;                 ///< a path
  std::vector<std::string> arguments;  ///< all of them, the name that it is called by first
  /// "NAME=value": what its environment has beside, or in place of, what is in that of this
  /// process.
  std::vector<std::string> variables{};
};

/// A child process made by exec, with a socket to it, and nothing else of this process but standard
/// error. It ends with this object. Not thread-safe. To be started by a thread that lives as long
/// as it may: the child asks the system to end it with that thread.
class child_process {
 public:
  /// The descriptor under which the child has its end.
  static constexpr int socket_in_child = 3;

  /// @throws std::system_error if the program cannot be run
  explicit child_process(const child_command& command);
  /// Kills it, and what it has started, and takes its end from the system.
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  int socket() const noexcept { return socket_; }
  /// Its number; -1 once it has been finished.
  ::pid_t id() const noexcept { return id_; }

  /// Sends what the socket takes now, the rest with later calls of flush.
  void send(std::span<const std::byte> bytes);
  void flush();
  bool has_unsent() const noexcept { return !unsent_.empty(); }

  /// Adds what has arrived. @returns false if the other end is closed: no more will come
  bool receive(std::vector<std::byte>& arrived);

  /// Tells it that nothing more will be sent, upon which it ends by itself.
  void dismiss() noexcept;

  /// The memory that it and its children have now, resident; zero if the system does not tell.
  /// What a child shares with it counts twice.
  std::uint64_t resident_bytes() const;

  /// Whether it has not ended. Its end of the socket may be open after that, where it has made
  /// processes, and closed before.
  bool runs() const noexcept;

  /// How a process ended.
  struct end {
    std::string text;           ///< "killed by signal 11 (Segmentation fault)", "exit status 1"
    bool by_kill = false;       ///< SIGKILL
    bool from_outside = false;  ///< by a signal that no fault of a program raises; SIGKILL too
    bool is_known = true;       ///< false: the application ignores SIGCHLD, or waits for any child
    bool still_ran = false;     ///< it had not ended: the SIGKILL was that of finish()
    int exit_status = -1;       ///< -1: it did not exit
  };
  /// Kills it if it does not end by itself in that time. May be called once.
  end finish(std::chrono::milliseconds patience = {});

 private:
  ::pid_t id_ = -1;
  int socket_ = -1;
  std::vector<std::byte> unsent_;
};

}  // namespace tune::detail
