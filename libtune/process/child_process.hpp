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

/// The program of a child process, with its arguments and environment.
struct child_command {
  std::string program;                 ///< a path
  std::vector<std::string> arguments;  ///< all arguments, argv[0] first
  /// "NAME=value": added to this process's environment, or replacing its variable of the same name.
  /// While the child is started, no other thread may change the environment.
  std::vector<std::string> variables{};
};

/// A child process made by exec. It shares only a socket and standard error with this process, and
/// ends with this object. Not thread-safe. Start it from a thread that outlives the child: the
/// system ends the child when that thread ends.
class child_process {
 public:
  /// The child's descriptor for its end of the socket.
  static constexpr int socket_in_child = 3;

  /// @throws std::system_error if the program cannot be run
  explicit child_process(const child_command& command);
  /// Kills the child and all processes that it has started, and reaps the child.
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  int socket() const noexcept { return socket_; }
  /// The process id; -1 after finish().
  ::pid_t id() const noexcept { return id_; }

  /// Sends the bytes that the socket accepts now; later calls of flush() send the rest.
  void send(std::span<const std::byte> bytes);
  void flush();
  bool has_unsent() const noexcept { return !unsent_.empty(); }

  /// Appends the bytes that have arrived. @returns false if the other end is closed: no more will
  /// come
  bool receive(std::vector<std::byte>& arrived);

  /// Closes the sending side, upon which the child ends by itself.
  void dismiss() noexcept;

  /// The resident memory of the child and its children, in bytes; zero if the system does not
  /// report it. Shared pages count twice.
  std::uint64_t resident_bytes() const;

  /// True until the child has ended. Its end of the socket may be closed earlier, or stay open
  /// longer in processes that the child has started.
  bool runs() const noexcept;

  /// The end of a process.
  struct end {
    std::string text;           ///< "killed by signal 11 (Segmentation fault)", "exit status 1"
    bool by_kill = false;       ///< true for SIGKILL
    bool from_outside = false;  ///< true for a signal that no fault of a program raises; also for
                                ///< SIGKILL
    bool is_known = true;       ///< false if the application ignores SIGCHLD, or waits for any
                                ///< child
    bool still_ran = false;     ///< true if finish() had to kill it
    int exit_status = -1;       ///< -1 if it did not exit
  };
  /// Waits this long for the child to end, then kills it. May be called once.
  end finish(std::chrono::milliseconds patience = {});

 private:
  ::pid_t id_ = -1;
  int socket_ = -1;
  std::vector<std::byte> unsent_;
};

/// For the child: sends all bytes to the other end of its socket. Returns false on failure, with
/// the reason in errno.
bool send_all(int socket, std::span<const std::byte> bytes);

}  // namespace tune::detail
