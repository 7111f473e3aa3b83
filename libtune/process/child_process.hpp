// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The program of a child process, with its arguments and environment.
struct child_command {
  std::string program;                 ///< a path
  std::vector<std::string> arguments;  ///< all of them, argv[0] first
  /// "NAME=value": added to the environment of this process, or in place of its variables of the
  /// same names. No other thread may change the environment while the child is started.
  std::vector<std::string> variables{};
};

/// The value of an environment variable before an OpenCL loader cut it, or `now` if the present
/// value has another cause. The Khronos loader (CUDA's libOpenCL.so among others) splits
/// OCL_ICD_FILENAMES and OPENCL_LAYERS where they lie, by writing zeros over their colons: a child
/// with the environment as it is now would see the first name of each alone, and would find no
/// device of the other platforms.
/// @param first  the value when this library was loaded; empty if it was not set
std::string uncut_list(const std::optional<std::string>& first, std::string_view now);

/// A child process made by exec. It shares a socket and standard error with this process, nothing
/// else, and ends with this object. Not thread-safe. Start it from a thread that lives as long as
/// the child may: the child asks the system to end it with that thread.
class child_process {
 public:
  /// The descriptor under which the child has its end.
  static constexpr int socket_in_child = 3;

  /// @throws std::system_error if the program cannot be run
  explicit child_process(const child_command& command);
  /// Kills it and all processes that it has started, and reaps it.
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  int socket() const noexcept { return socket_; }
  /// The process id; -1 after finish().
  ::pid_t id() const noexcept { return id_; }

  /// Sends what the socket takes now, the rest with later calls of flush.
  void send(std::span<const std::byte> bytes);
  void flush();
  bool has_unsent() const noexcept { return !unsent_.empty(); }

  /// Adds what has arrived. @returns false if the other end is closed: no more will come
  bool receive(std::vector<std::byte>& arrived);

  /// Closes the sending side; the child then ends by itself.
  void dismiss() noexcept;

  /// The resident memory of it and its children; zero if the system does not report it. Shared
  /// pages count twice.
  std::uint64_t resident_bytes() const;

  /// True until it has ended. Its end of the socket may stay open after that, where it has started
  /// processes, or be closed before.
  bool runs() const noexcept;

  /// The end of a process.
  struct end {
    std::string text;           ///< "killed by signal 11 (Segmentation fault)", "exit status 1"
    bool by_kill = false;       ///< SIGKILL
    bool from_outside = false;  ///< by a signal that no fault of a program raises; SIGKILL too
    bool is_known = true;       ///< false: the application ignores SIGCHLD, or waits for any child
    bool still_ran = false;     ///< it had not ended: the SIGKILL was that of finish()
    int exit_status = -1;       ///< -1: it did not exit
  };
  /// Kills it if it does not end by itself within that time. May be called once.
  end finish(std::chrono::milliseconds patience = {});

 private:
  ::pid_t id_ = -1;
  int socket_ = -1;
  std::vector<std::byte> unsent_;
};

/// For the child: sends all bytes to the other end of its socket. Returns false if that takes none;
/// errno has the reason.
bool send_all(int socket, std::span<const std::byte> bytes);

}  // namespace tune::detail
