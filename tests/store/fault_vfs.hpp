// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <limits>

namespace tune::testing {

/// Stands between SQLite and the files of this process until it goes out of scope: it counts what
/// changes files, can make that fail, and can set the clock. One at a time, for one thread; no
/// database may be open when it comes and goes.
class [[nodiscard]] fault_vfs {
 public:
  fault_vfs();
  ~fault_vfs();
  fault_vfs(const fault_vfs&) = delete;
  fault_vfs& operator=(const fault_vfs&) = delete;

  /// SQLite is told this code, such as SQLITE_FULL, instead of the n-th change from here on, and
  /// instead of a number of those that follow.
  void fail_at(int change, int code, int count = 1);
  /// The process is killed instead of the n-th change from here on.
  void kill_at(int change);
  /// From here on SQLite is told a time so much later; a negative one is earlier.
  void skew_clock(std::chrono::seconds by) { clock_skew_ = by; }

  /// How many writes, truncations, syncs and removals there were.
  int changes() const { return changes_; }
  /// How many files were opened such that they could be made or written.
  int writable_opens() const { return writable_opens_; }

  // For the functions that SQLite calls. The first tells the code to report instead, or SQLITE_OK.
  int note_change();
  void note_open(bool writable) { writable_opens_ += writable ? 1 : 0; }
  std::chrono::milliseconds clock_skew() const { return clock_skew_; }

 private:
  static constexpr int never = std::numeric_limits<int>::max();

  int first_failure_ = never;
  int failures_ = 0;
  int code_ = 0;
  int killed_at_ = never;
  int changes_ = 0;
  int writable_opens_ = 0;
  std::chrono::seconds clock_skew_{0};
};

}  // namespace tune::testing
