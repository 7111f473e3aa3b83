// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtune/store/files/named_lock.hpp"

namespace tune {

/// Announces that a thread which holds the locks of some keys waits for that of another, to all
/// threads and processes that use the same locks. So a deadlock is detected, and one of its threads
/// goes on without the lock. One thread uses an object.
///
/// The marks are records of 16 bytes in a file beside that of the keys, each with the hashes of a
/// key that is held and the key that is wanted. A record counts while its byte is locked, so that
/// the records of a killed process mean nothing.
class [[nodiscard]] wait_mark {
 public:
  /// @param folder  of the lock files; empty: threads of this process alone
  /// @param had     the keys that are held, by key_lock::hash
  /// @param wanted  the key that is waited for, by key_lock::hash
  wait_mark(const std::string& folder, std::vector<std::uint64_t> had, std::uint64_t wanted);
  ~wait_mark();
  wait_mark(const wait_mark&) = delete;
  wait_mark& operator=(const wait_mark&) = delete;

  /// True if the holder of the wanted key waits, directly or through others, for one of the keys
  /// that are held, and of all threads in this circle this one is to go on.
  bool has_to_give_way() const;

  static constexpr const char* file_name = "waits";

 private:
  using edge =
      std::pair<std::uint64_t, std::uint64_t>;  // a key that is held, and the one that is wanted

  void put(const edge& record);
  std::vector<edge> edges() const;

  std::vector<std::uint64_t> had_;
  std::uint64_t wanted_;
  std::shared_ptr<detail::byte_locks> file_;  // null: the records are those of this process
  std::vector<std::uint64_t> slots_;
};

}  // namespace tune
