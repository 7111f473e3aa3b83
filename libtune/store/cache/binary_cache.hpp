// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/store/cache/binary_key.hpp"

namespace tune {

/// Compiled programs in a folder of files, one for each key, which any number of processes share.
/// It knows nothing of devices and compilers. Thread-safe.
///
/// It may make a program slower, never make it fail, but for sealed threads (base/seal.hpp): what
/// cannot be read is not there, and what cannot be written is not kept. A folder of no use is told
/// once by a warning.
///
///  - The folder and its files belong to the effective user, and nobody else may write them;
///    otherwise they are not used. What is made is readable by that user only.
///  - What load returns has been read once and checked in memory against the SHA-256 beside it.
///  - A file is complete from the moment that it has its name.
///  - The entries never have more bytes than the cap, in any process's eyes; making room takes away
///    those that were not used for longest. Files of other names are left alone and not counted.
class binary_cache {
 public:
  static constexpr std::uint64_t default_cap_bytes = std::uint64_t{256} << 20;

  /// Touches no file.
  /// @param folder     a path; made where it is missing, once there is something to keep
  /// @param cap_bytes  of all entries together, headers included
  /// @param lock_wait  for how long a save may wait for other processes before it gives up
  explicit binary_cache(const std::string& folder, std::uint64_t cap_bytes = default_cap_bytes,
                        std::chrono::milliseconds lock_wait = std::chrono::milliseconds(100));

  /// The absolute path of the folder.
  const std::string& folder() const noexcept { return folder_; }

  /// What was saved under the key, and counts as a use of it; empty if that is not there or not
  /// intact.
  std::optional<std::vector<std::byte>> load(const binary_key& key) const;

  /// Keeps a binary in place of what the key has now. Nothing is kept of one that is larger than
  /// the cap.
  void save(const binary_key& key, std::span<const std::byte> binary) const;

  /// A binary and what its key stands for, see binary_key::digest.
  struct entry {
    detail::sha256_digest key{};
    std::vector<std::byte> binary;
  };
  /// Keeps several, cheaper by far than one by one: nothing waits for the disk, so that what is
  /// saved just before a machine fails may be found damaged, which is as good as not there.
  void save_all(std::span<const entry> entries) const;

  /// Forgets what the key has.
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
