// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/sha256.hpp"

namespace tune::detail {

/// The version of the files in the binary cache.
inline constexpr std::uint32_t binary_format = 1;

}  // namespace tune::detail

namespace tune {

/// All properties that a compiled program depends on, as named texts in an order that the caller
/// keeps. Two keys are equal only if they have the same names and texts in the same order; texts
/// cannot be confused with several texts or with parts of others.
class binary_key {
 public:
  binary_key() = default;
  binary_key(std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
    for (const auto& [name, text] : texts) add(name, text);
  }

  binary_key& add(std::string_view name, std::string_view text);

  /// The name of the key's file in the cache.
  detail::sha256_digest digest() const;

 private:
  std::string encoded_;
};

/// A folder of compiled programs, one file for each key, shared by any number of processes.
/// Independent of devices and compilers. Thread-safe.
///
/// Errors never make a program fail, only slower, except on sealed threads (base/seal.hpp):
/// unreadable entries count as missing, and unwritable ones are not stored. An unusable folder
/// causes one warning.
///
/// - The folder and its files belong to the effective user, and nobody else may write them;
///   otherwise they are not used. New ones are readable by that user only.
/// - A loaded binary has been read once and checked in memory against its stored SHA-256.
/// - A file is complete as soon as it has its name.
/// - The entries never exceed the cap, for any process; the least recently used ones are removed.
///   Files with other names are ignored and not counted.
class binary_cache {
 public:
  /// The file that a process locks while it removes and adds entries. Empty, never removed; readers
  /// do not lock it.
  static constexpr const char* lock_file_name = "lock";
  /// The size of an entry's header.
  static constexpr std::size_t header_bytes = 84;
  static constexpr std::uint64_t default_cap_bytes = std::uint64_t{256} << 20;

  /// Accesses no file.
  /// @param folder     a path; created by the first save
  /// @param cap_bytes  of all entries together, headers included
  /// @param lock_wait  the longest time for which a save waits for other processes
  explicit binary_cache(const std::string& folder, std::uint64_t cap_bytes = default_cap_bytes,
                        std::chrono::milliseconds lock_wait = std::chrono::milliseconds(100));

  /// The absolute path of the folder.
  const std::string& folder() const noexcept { return folder_; }

  /// Returns the binary of the key, and marks it as used now; empty if it is missing or damaged.
  std::optional<std::vector<std::byte>> load(const binary_key& key) const {
    return load(key.digest());
  }
  /// Like the above, by the digest of the key, which takes longer than the rest for a long text.
  std::optional<std::vector<std::byte>> load(const detail::sha256_digest& digest) const;

  /// Stores a binary, replacing the key's present one. Binaries larger than the cap are not stored.
  void save(const binary_key& key, std::span<const std::byte> binary) const;

  /// A binary and its key's digest (binary_key::digest).
  struct entry {
    detail::sha256_digest key{};
    std::vector<std::byte> binary;
  };
  /// Stores several entries, much faster than one by one, without waiting for the disk. Entries
  /// that were saved just before a failure of the machine may be damaged, and then count as
  /// missing.
  void save_all(std::span<const entry> entries) const;

  /// Removes the key's binary.
  void remove(const binary_key& key) const;

 private:
  void write_entry(const detail::sha256_digest& key, std::span<const std::byte> binary) const;
  void write_entries(std::span<const entry> entries) const;
  void warn(const std::string& reason) const noexcept;

  std::string folder_;
  std::uint64_t cap_bytes_;
  std::chrono::milliseconds lock_wait_;
  mutable std::atomic<bool> warned_{false};
};

}  // namespace tune
