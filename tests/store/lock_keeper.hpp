// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "tests/store/child_process.hpp"

namespace tune::testing {

/// Another process, made by fork, that takes a lock and keeps it until the end of this object.
class [[nodiscard]] lock_keeper {
 public:
  /// @param take  called in that process; what it returns is kept there. It must not use doctest.
  template <class Take>
  explicit lock_keeper(Take take) {
    std::array<int, 2> ready{};
    REQUIRE(::pipe2(ready.data(), O_CLOEXEC) == 0);
    id_ = fork_for_use();
    if (id_ == 0) {
      ::alarm(120);
      const auto kept = take();
      static_cast<void>(kept);
      if (::write(ready[1], "", 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    ::close(ready[1]);
    char said = 1;
    REQUIRE(::read(ready[0], &said, 1) == 1);
    ::close(ready[0]);
  }
  ~lock_keeper() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  lock_keeper(const lock_keeper&) = delete;
  lock_keeper& operator=(const lock_keeper&) = delete;

  ::pid_t id() const noexcept { return id_; }
  void send(int signal) const { ::kill(id_, signal); }

 private:
  ::pid_t id_ = 0;
};

/// For a lock_keeper: takes the locks of all keys of a database.
inline auto all_keys_of(const std::string& database) {
  return [database] {
    const std::string folder = database + ".locks";
    std::filesystem::create_directories(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    const int file = ::open((folder + "/keys").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct ::flock all {};
    all.l_type = F_WRLCK;
    return ::fcntl(file, F_SETLK, &all);
  };
}

}  // namespace tune::testing
