// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "libtune/compile/worker_message.hpp"

namespace tune::detail {

/// A child process that runs the helper program, with a socket to it. It ends with this object. Not
/// thread-safe. To be started by a thread that lives as long as it may: the system ends it with
/// that thread.
class worker_process {
 public:
  /// The descriptor under which the child has its end.
  static constexpr int socket_in_child = 3;

  /// @throws std::system_error if the program cannot be run
  explicit worker_process(const std::string& program);
  /// Kills it, and what it has started, and takes its end from the system.
  ~worker_process();
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;

  int socket() const noexcept { return socket_; }

  /// Sends what the socket takes now, the rest with later calls of flush.
  void send(const worker_message& message);
  void flush();
  bool has_unsent() const noexcept { return !unsent_.empty(); }

  /// Reads what has arrived. @returns false if the other end is closed: no more will come
  bool receive();
  /// The next message of what was read. @throws wire_error
  std::optional<worker_message> next() { return reader_.next(); }

  /// Tells it that no more orders will come, upon which it ends by itself.
  void dismiss() noexcept;

  /// The memory that it and its children have now, resident; zero if the system does not tell.
  /// What a child shares with it counts twice.
  std::uint64_t resident_bytes() const;

  /// How a process ended.
  struct end {
    std::string text;      ///< "killed by signal 11 (Segmentation fault)", "exit status 1"
    bool by_kill = false;  ///< SIGKILL
  };
  /// Kills it if it still runs. May be called once.
  end finish();

 private:
  ::pid_t id_ = -1;
  int socket_ = -1;
  std::vector<std::byte> unsent_;
  worker_message_reader reader_;
};

}  // namespace tune::detail
