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

/// Sizes that programs have asked a portfolio for.
struct asked_count {
  std::vector<std::uint64_t> sizes{};  ///< one for each range of the key, in their order
  std::uint64_t count = 1;             ///< how often

  friend bool operator==(const asked_count&, const asked_count&) = default;
};

/// A key for which a program found no result, or whose portfolio it has used.
struct missed_key {
  function_identity function{};
  record_key key{};         ///< the arguments, in the order of function.key_fields, and the device
  std::string missed_at{};  ///< UTC, for people
  std::string program{};    ///< the path of the program; empty if the system does not know it
  std::vector<asked_count> asked{};  ///< of a portfolio, those that were asked for most first
};

/// The keys for which programs found no result, and the sizes that they have asked portfolios for,
/// in a file beside the tuning database with one JSON object a line, so that an operator can have
/// them tuned later. Programs append to it, whatever
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

  /// The most different sizes that are kept of a key: those that were asked for most.
  static constexpr std::size_t most_sizes = 256;

  /// Adds to the sizes that a portfolio was asked for; the counts of equal ones are added up. Where
  /// that cannot be done, as above, or other programs write for longer than a second, nothing is
  /// noted.
  void remember(const function_identity& function, const record_key& key,
                std::span<const asked_count> asked) const noexcept;

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
/// @param lacks  true if a result is there, but does not serve all that was asked for; may be empty
std::vector<missed_key> still_missing(
    std::vector<missed_key> keys, const tuning_layers& layers,
    const std::function<bool(const missed_key&, const record&)>& lacks = {});

}  // namespace tune
