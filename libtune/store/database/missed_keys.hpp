// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {

class tuning_layers;

/// Sizes that programs have requested from a portfolio.
struct asked_count {
  std::vector<std::uint64_t> sizes{};  ///< one for each range of the key, in their order
  std::uint64_t count = 1;             ///< the number of requests

  friend bool operator==(const asked_count&, const asked_count&) = default;
};

/// A key without a result in a program, or with a portfolio that a program has used.
struct missed_key {
  function_identity function{};
  record_key key{};         ///< the arguments, in the order of function.key_fields, and the device
  std::string missed_at{};  ///< UTC, for people
  std::string program{};    ///< the path of the program; empty if the system does not report it
  std::vector<asked_count> asked{};  ///< of a portfolio, the most frequent first
};

/// The keys for which programs found no result, and the sizes that they requested from portfolios,
/// so that an operator can tune them later. They are in a file beside the tuning database with one
/// JSON object a line (FORMAT.md). Programs append to it in every mode; the database is not
/// accessed. Any number of processes share the file. Thread-safe.
class missed_keys {
 public:
  /// The largest size of the file.
  static constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20;

  /// Accesses no file. @param path  a file; empty if nothing is to be noted
  explicit missed_keys(std::string path) : path_(std::move(path)) {}

  /// Returns the path of the file for a database.
  static std::string path_beside(const std::string& database) { return database + "-missed"; }

  const std::string& path() const noexcept { return path_; }

  /// Notes a key, unless this process has already tried to, or the file has it. Creates the file,
  /// and its folder. Nothing is noted if that fails, a database at the path would not be trusted,
  /// the program runs with raised privileges (setuid), or the path is another file; this is only
  /// logged for debugging.
  void remember(const function_identity& function, const record_key& key) const noexcept;

  /// The largest number of different sizes that are kept for a key: the most frequent ones.
  static constexpr std::size_t most_sizes = 256;

  /// Adds requested sizes of a portfolio; the counts of equal ones are added up. Nothing is noted
  /// if that fails, as above, or other programs write for longer than a second.
  void remember(const function_identity& function, const record_key& key,
                std::span<const asked_count> asked) const noexcept;

  struct contents {
    std::vector<missed_key> keys;  ///< no duplicates, the latest last
    std::size_t unreadable = 0;    ///< the number of lines that are not keys of any database
  };
  /// Reads the file; empty if there is no file.
  /// @throws database_error if it cannot be read, or other users could change it
  contents read() const;

  /// Removes the keys for which gone() is true, and the file if no lines are left. Lines that are
  /// not keys stay. @throws error
  /// @returns the number of removed keys
  std::size_t remove(const std::function<bool(const missed_key&)>& gone) const;

 private:
  std::string path_;
};

/// Returns the keys for whose device no database has a result by now.
/// @param lacks  returns true if a result does not cover all requests; may be empty
std::vector<missed_key> still_missing(
    std::vector<missed_key> keys, const tuning_layers& layers,
    const std::function<bool(const missed_key&, const record&)>& lacks = {});

}  // namespace tune
