// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace tune::testing {

/// Keeps what the process writes to standard error until it goes out of scope, at most 64 KiB of
/// it, so that a test can read the log as a user sees it.
class [[nodiscard]] captured_errors {
 public:
  captured_errors() : before_(::dup(STDERR_FILENO)) {
    int ends[2];
    // A pipe, because a file could meet the limits that a test sets.
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) {
      throw std::runtime_error("cannot capture standard error");
    }
    ::close(ends[1]);
    reader_ = ends[0];
  }
  ~captured_errors() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(reader_);
  }
  captured_errors(const captured_errors&) = delete;
  captured_errors& operator=(const captured_errors&) = delete;

  /// What has been written so far.
  const std::string& text() {
    char part[4096];
    for (ssize_t count = 0; (count = ::read(reader_, part, sizeof part)) > 0;) {
      text_.append(part, static_cast<std::size_t>(count));
    }
    return text_;
  }

  /// How often a word has been written so far.
  int count(const std::string& word) {
    int found = 0;
    const std::string& all = text();
    for (std::size_t at = all.find(word); at != std::string::npos; at = all.find(word, at + 1)) {
      ++found;
    }
    return found;
  }

 private:
  int before_;
  int reader_ = -1;
  std::string text_;
};

}  // namespace tune::testing
