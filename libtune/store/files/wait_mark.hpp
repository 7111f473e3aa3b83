// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtune/store/files/process_lock.hpp"

namespace tune {

/// Says that a thread which has the right to tune some keys waits for the right to another, to all
/// threads and processes that use the same locks. So those that would wait for each other for ever
/// find it out, and one of them goes on without the lock. One thread uses an object.
///
/// The marks are records of 16 bytes in a file beside that of the keys, each with the hashes of a
/// key that is had and the key that is wanted. A record counts while its byte is locked, so that
/// what a killed process leaves means nothing.
class [[nodiscard]] wait_mark {
 public:
  /// @param folder  of the lock files; empty: threads of this process alone
  /// @param had     the keys, by key_lock::hash @param wanted  the same
  wait_mark(const std::string& folder, std::vector<std::uint64_t> had, std::uint64_t wanted);
  ~wait_mark();
  wait_mark(const wait_mark&) = delete;
  wait_mark& operator=(const wait_mark&) = delete;

  /// Whether who has the wanted key waits, by way of others or not, for one of those that are had,
  /// and of all who wait so this one is to go on.
  bool has_to_give_way() const;

  static constexpr const char* file_name = "waits";

 private:
  using edge = std::pair<std::uint64_t, std::uint64_t>;  // what is had, and what is wanted

  void put(const edge& record);
  std::vector<edge> edges() const;

  std::vector<std::uint64_t> had_;
  std::uint64_t wanted_;
  std::shared_ptr<detail::lock_file> file_;  // null: the records are those of this process
  std::vector<std::uint64_t> slots_;
};

}  // namespace tune
