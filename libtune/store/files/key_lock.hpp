// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "libtune/store/files/file_lock.hpp"
#include "libtune/store/files/process_lock.hpp"

namespace tune {

/// The right to tune a key, among all processes that use one database. Where no file can be locked
/// nobody is kept out. The threads of a process share it, and agree among themselves in another
/// way. One thread uses an object.
///
/// It is the lock of one byte of a file, which 62 bits of a hash of the key choose: two keys do not
/// share one. What a candidate forks does not have it (store/process_lock.hpp).
class [[nodiscard]] key_lock {
 public:
  /// Takes nothing yet. @param database  the absolute path @param key  any text
  key_lock(const std::string& database, std::string_view key);
  ~key_lock() = default;
  key_lock(const key_lock&) = delete;
  key_lock& operator=(const key_lock&) = delete;

  /// Waits while another process has the lock. @param look  called meanwhile; may use holder
  /// @returns false if it still had it in the end
  bool take(std::chrono::milliseconds wait, const wait_look& look = {});

  /// The process that has the lock now, as far as the system tells.
  std::optional<::pid_t> holder() const noexcept { return lock_.holder(); }

  /// The folder of the file, once it has been tried to take the lock; empty if there is none.
  std::string folder() const;

  /// What chooses the byte. @param name  the database, a new line, and the key
  static std::uint64_t hash(std::string_view name);

  /// The folders in which the file may be, the first choice first: one beside the database,
  /// then one of the user's for databases in folders that cannot be written or locked.
  static std::vector<std::string> folders(const std::string& database);
  /// What the file is called in its folder.
  static constexpr const char* file_name = "keys";

 private:
  bool try_take();
  bool open_next();

  std::uint64_t hash_;
  std::vector<std::string> paths_;  ///< of the file, in every folder; those from next_ on are left
  std::size_t next_ = 0;
  detail::process_lock lock_;
};

}  // namespace tune
