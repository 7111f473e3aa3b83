// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests of tunedb capture to running programs: a socket for each capture that allows them, in a
// folder that only the user can enter.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/extra/capture/capture.hpp"

namespace tune::detail {

/// The state of a running capture.
struct capture_state {
  std::string pipeline;
  std::int64_t process = 0;  ///< its id
  std::string folder;        ///< of its files
  capture_counts counts{};
  std::string last_failure{};
  std::string last_file{};
  bool is_finished = false;  ///< a limit of files or bytes has been reached
};

/// The program's side. For one thread.
class capture_door {
 public:
  /// @throws error, std::system_error if there is no folder or no socket
  capture_door();
  /// Removes the socket.
  ~capture_door();
  capture_door(const capture_door&) = delete;
  capture_door& operator=(const capture_door&) = delete;

  /// Answers the requests that have arrived; does not wait for others.
  /// @param request  requests the capture of this many frames
  /// @param state    the answer
  void serve(const std::function<void(std::uint64_t frames)>& request,
             const std::function<capture_state()>& state);

 private:
  std::string path_;
  file_descriptor socket_;
};

/// A socket of a program.
struct found_capture {
  std::string path;
  capture_state state;
};

/// All captures of running programs of this user that allow requests. Removes sockets of programs
/// that have ended.
std::vector<found_capture> find_captures();

/// Requests frames of a capture; 0: only its state. Empty if the program has ended meanwhile.
std::optional<capture_state> ask_capture(const std::string& path, std::uint64_t frames);

}  // namespace tune::detail
