// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {

class tuning_layers;

/// A key for which a program found no result.
struct missed_key {
  function_identity function{};
  record_key key{};         ///< the arguments, in the order of function.key_fields, and the device
  std::string missed_at{};  ///< UTC, for people
  std::string program{};    ///< the path of the program; empty if the system does not know it
};

/// The keys for which programs found no result, in a file beside the tuning database with one JSON
/// object a line, so that an operator can have them tuned later. Programs append to it, whatever
/// their mode; the database is not touched. FORMAT.md describes the file. Any number of processes
/// share it. Thread-safe.
class missed_keys {
 public:
  /// The file is not made larger than this.
  static constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20;

  /// Touches nothing. @param path  a file; empty if nothing is to be noted
  explicit missed_keys(std::string path) : path_(std::move(path)) {}

  /// The file that belongs to a database.
  static std::string path_beside(const std::string& database) { return database + "-missed"; }

  const std::string& path() const noexcept { return path_; }

  /// Notes a key, unless this process has tried to before or the file has it. Makes the file, and
  /// its folder. Where that cannot be done, or a database at the path would not be trusted, or the
  /// program runs with raised privileges (setuid), or what lies there is another file, nothing is
  /// noted; that is logged for debugging only.
  void remember(const function_identity& function, const record_key& key) const noexcept;

  struct contents {
    std::vector<missed_key> keys;  ///< each once, the latest to be missed last
    std::size_t unreadable = 0;    ///< lines that are no key that a database could have
  };
  /// The contents of the file; none if there is no file.
  /// @throws database_error if it cannot be read, or others than this user could change it
  contents read() const;

  /// Removes the keys that gone() says; without lines left, the file. Lines that are no keys stay.
  /// @throws error
  /// @returns how many there were
  std::size_t remove(const std::function<bool(const missed_key&)>& gone) const;

 private:
  std::string path_;
};

/// Those keys for whose device no database has a result by now.
std::vector<missed_key> still_missing(std::vector<missed_key> keys, const tuning_layers& layers);

}  // namespace tune
