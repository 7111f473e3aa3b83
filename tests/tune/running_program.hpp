// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/types.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sample {

/// A run of a program, for tests that kill it or its children; killed at the end if it still runs.
class [[nodiscard]] running_program {
 public:
  /// @param arguments  the path of the program, and what it is given
  /// @param output     the file that gets what it prints
  explicit running_program(std::vector<std::string> arguments, std::string output = "/dev/null")
      : output_(std::move(output)) {
    std::vector<char*> pointers;
    for (std::string& each : arguments) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    id_ = ::fork();
    if (id_ != 0) return;
    const int file = ::open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::execv(pointers.front(), pointers.data());
    ::_exit(127);
  }
  ~running_program() {
    if (!has_ended()) kill();
  }
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;

  ::pid_t id() const noexcept { return id_; }
  bool has_ended() {
    if (!ended_) ended_ = ::waitpid(id_, &status_, WNOHANG) == id_;
    return ended_;
  }
  void kill() {
    ::kill(id_, SIGKILL);
    while (::waitpid(id_, &status_, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
  }
  /// Waits for its end. Returns what it printed.
  std::string finish() {
    while (!has_ended()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return output();
  }
  std::string output() const {
    std::ifstream file(output_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// The signal that ended it; 0: none.
  int signal() const noexcept { return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }
  /// What it returned; -1: a signal ended it.
  int exit_status() const noexcept { return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1; }
  bool succeeded() const noexcept { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

  /// The processes that it has started and that run; any of its threads may have started them.
  std::vector<::pid_t> children() const {
    std::vector<::pid_t> found;
    std::error_code gone;
    const std::string tasks = "/proc/" + std::to_string(id_) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
      std::ifstream file(task.path() / "children");
      for (::pid_t child = 0; file >> child;) found.push_back(child);
    }
    return found;
  }

 private:
  std::string output_;
  ::pid_t id_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace sample
