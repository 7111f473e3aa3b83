// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tune::testing {

/// What SQLite asks of files. The last is not an operation but a way in which reads fail.
enum class file_operation { open, read, write, truncate, sync, remove, lock, size, short_read };

/// Which operation fails, and how.
struct file_fault {
  file_operation operation = file_operation::write;
  int at = 0;               ///< the how manieth of its kind, counted from one; 0 for none
  bool persistent = false;  ///< and all that follow, not it alone
  int code = 0;             ///< what SQLite is told, such as SQLITE_FULL
};

/// How much of what was not synced survives a loss of power.
enum class loss { nothing, some_writes, some_writes_and_removals };

/// Stands between SQLite and the files of this process until it goes out of scope: it makes
/// operations fail, and it can tell what a disk would hold had the power been cut. One at a time,
/// for one thread; no database may be open when it comes and goes.
class [[nodiscard]] fault_vfs {
 public:
  fault_vfs();
  ~fault_vfs();
  fault_vfs(const fault_vfs&) = delete;
  fault_vfs& operator=(const fault_vfs&) = delete;

  /// Counts from here on.
  void inject(file_fault fault);
  /// Whether the fault has come about.
  bool has_failed() const {
    return fault_.at != 0 && counts_[index(fault_.operation)] >= fault_.at;
  }

  /// The power is cut at the n-th change from here on: a write, truncation, sync or removal.
  void cut_power_at(int change) { power_left_ = change; }
  bool has_power() const { return power_left_ != 0; }
  /// The process is killed instead of the n-th change from here on.
  void kill_at(int change) { life_left_ = change; }
  /// From here on a write to a journal is claimed and not made, as if there were no journal.
  void forget_journals() { forgets_ = true; }
  /// From here on a sync is claimed and not made.
  void lie_about_syncs() { lies_ = true; }

  /// From here on SQLite is told a time so much later; a negative one is earlier.
  void skew_clock(std::chrono::seconds by) { clock_skew_ = by; }

  /// How many writes, truncations, syncs and removals there were, and how many files were opened
  /// such that they could be made or written.
  int changes() const { return changes_; }
  int writable_opens() const { return writable_opens_; }

  /// Writes what a disk would hold now to files of another folder, by their names.
  void write_survivors(const std::string& folder, loss lost, std::uint32_t seed) const;

  // For the functions that SQLite calls: the code to report instead, or SQLITE_OK.
  int check(file_operation operation);
  int check_change(file_operation operation);
  bool forgets(const std::string& path) const;
  void note_open(bool writable) { writable_opens_ += writable ? 1 : 0; }
  std::chrono::milliseconds clock_skew() const { return clock_skew_; }
  void note_write(const std::string& path, std::int64_t offset, const void* bytes, int count);
  void note_truncation(const std::string& path, std::int64_t size);
  void note_sync(const std::string& path);
  void note_removal(const std::string& path);

 private:
  struct change {
    std::int64_t offset = -1;  // negative: a truncation to size
    std::int64_t size = 0;
    std::string bytes;
  };
  struct history {
    std::string synced;
    bool was_synced = false;
    std::vector<change> pending;
  };

  static std::size_t index(file_operation operation) { return static_cast<std::size_t>(operation); }

  file_fault fault_;
  std::array<int, 9> counts_{};
  int power_left_ = -1;
  int life_left_ = -1;
  bool forgets_ = false;
  bool lies_ = false;
  std::chrono::seconds clock_skew_{0};
  int changes_ = 0;
  int writable_opens_ = 0;
  std::map<std::string, history> files_;
  std::map<std::string, history> removed_;
};

}  // namespace tune::testing
