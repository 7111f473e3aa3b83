// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/store/file_lock.hpp"

namespace tune {

/// The right to tune a key, among all processes that use one database. Where no file can be locked
/// nobody is kept out. The threads of a process share it, and agree among themselves in another
/// way. One thread uses an object.
///
/// It is the lock of one of 256 files, which a hash of the key chooses and which are never removed
/// (FORMAT.md says where they are). So two keys may have one file: then they are tuned one after
/// the other, unless by one process.
class [[nodiscard]] key_lock {
 public:
  /// Takes nothing yet. @param database  the absolute path @param key  any text
  key_lock(const std::string& database, std::string_view key);
  ~key_lock() = default;
  key_lock(const key_lock&) = delete;
  key_lock& operator=(const key_lock&) = delete;

  /// Waits while another process has the lock.
  /// @returns false if it still had it in the end
  bool take(std::chrono::milliseconds wait);

  /// The folders in which such a file may be, the first choice first: one beside the database,
  /// then one of the user's for databases in folders that cannot be written or locked.
  static std::vector<std::string> folders(const std::string& database);

 private:
  bool try_take();
  bool open_next();

  std::vector<std::string> paths_;  ///< of the file, in every folder; those from next_ on are left
  std::size_t next_ = 0;
  std::shared_ptr<detail::file_lock> lock_;
};

}  // namespace tune
