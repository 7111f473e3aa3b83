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

/// All that a compiled program depends on, as named texts in an order that the caller keeps. Two
/// keys are the same only if they have the same names and texts in the same order: no text can pass
/// for two, and none runs into the next.
class binary_key {
 public:
  binary_key() = default;
  binary_key(std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
    for (const auto& [name, text] : texts) add(name, text);
  }

  binary_key& add(std::string_view name, std::string_view text);

  /// The name of the key in the cache.
  detail::sha256_digest digest() const;

 private:
  std::string encoded_;
};

/// Compiled programs in a folder of files, one for each key, which any number of processes share.
/// It knows nothing of devices and compilers. Thread-safe.
///
/// It may make a program slower, never make it fail, except on sealed threads (base/seal.hpp):
/// unreadable entries are missing ones, and those that cannot be written are not kept. A folder
/// that cannot be used causes one warning.
///
///  - The folder and its files belong to the effective user, and nobody else may write them;
///    otherwise they are not used. New ones are readable by that user only.
///  - A loaded binary has been read once and checked in memory against the SHA-256 beside it.
///  - A file is complete from the moment that it has its name.
///  - The entries never have more bytes than the cap, seen from any process; the least recently
///  used
///    ones make room. Files of other names are left alone and not counted.
class binary_cache {
 public:
  /// The file whose lock a process has while it makes room and adds entries. Empty, never removed;
  /// readers do not take it.
  static constexpr const char* lock_file_name = "lock";
  /// The bytes of an entry's file before its binary.
  static constexpr std::size_t header_bytes = 84;
  static constexpr std::uint64_t default_cap_bytes = std::uint64_t{256} << 20;

  /// Touches no file.
  /// @param folder     a path; made by the first save
  /// @param cap_bytes  of all entries together, headers included
  /// @param lock_wait  the longest time that a save waits for other processes before it gives up
  explicit binary_cache(const std::string& folder, std::uint64_t cap_bytes = default_cap_bytes,
                        std::chrono::milliseconds lock_wait = std::chrono::milliseconds(100));

  /// The absolute path of the folder.
  const std::string& folder() const noexcept { return folder_; }

  /// The binary of the key, which counts as used now; empty if it is missing or damaged.
  std::optional<std::vector<std::byte>> load(const binary_key& key) const;

  /// Keeps a binary in place of the key's present one. One that is larger than the cap is not kept.
  void save(const binary_key& key, std::span<const std::byte> binary) const;

  /// A binary and its key's digest (binary_key::digest).
  struct entry {
    detail::sha256_digest key{};
    std::vector<std::byte> binary;
  };
  /// Keeps several, cheaper by far than one by one: nothing waits for the disk. Entries that are
  /// saved just before a machine fails may be found damaged, and then are missing.
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
