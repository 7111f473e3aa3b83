// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "libtune/base/sha256.hpp"

namespace tune {

/// The binaries that this process has loaded or made lately, which have been checked already, so
/// that taking one again touches no file. The ones used longest ago make room. Thread-safe.
class recent_binaries {
 public:
  using binary = std::shared_ptr<const std::vector<std::byte>>;

  /// @param cap_bytes  of all of them together
  explicit recent_binaries(std::size_t cap_bytes = std::size_t{16} << 20) noexcept
      : cap_bytes_(cap_bytes) {}

  /// Null if it is not there.
  binary find(const detail::sha256_digest& key);
  /// Keeps it, unless it alone is larger than the cap.
  void add(const detail::sha256_digest& key, std::vector<std::byte> bytes);
  void remove(const detail::sha256_digest& key);

 private:
  struct entry {
    detail::sha256_digest key;
    binary bytes;
  };

  std::list<entry>::iterator position(const detail::sha256_digest& key);
  void erase(std::list<entry>::iterator which);

  std::mutex mutex_;
  std::list<entry> entries_;  // the one used last in front; few, so searching them is cheap
  std::size_t bytes_ = 0;
  std::size_t cap_bytes_;
};

}  // namespace tune
