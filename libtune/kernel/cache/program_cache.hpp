// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Compiled programs that are kept, in files and in memory: for tune::compile, which wants programs,
// and for a search, which has binaries that workers compiled.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "libtune/base/sha256.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/compiler.hpp"

namespace tune {

class binary_cache;

/// The binaries that this process has loaded or made lately, which have been checked already, so
/// that taking one again touches no file. The least recently used make room. Thread-safe.
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
  std::list<entry> entries_;  // the latest in front; few, so searching them is cheap
  std::size_t bytes_ = 0;
  std::size_t cap_bytes_;
};

/// The cache of compiled programs that LIBTUNE_CACHE asks for now: in the folder that it names, by
/// default in programs in the user's cache folder. Null if it says off, or if it is unset and the
/// user has no cache folder. Kept between calls while the folder stays the same. Thread-safe.
std::shared_ptr<const binary_cache> program_cache();

/// The binaries that this process has had from that cache lately; empty anew when the folder
/// changes. Null where there is no cache. Thread-safe.
std::shared_ptr<recent_binaries> recent_programs();

/// The binary of the source in program_cache(), under the same key as tune::compile uses. Empty if
/// it is not there, there is no cache, or a file that it includes is not as it was. Never throws
/// for the state of the cache. Thread-safe.
std::optional<std::vector<std::byte>> find_cached_binary(const context& context,
                                                         const program_source& source);

/// Keeps a binary in program_cache(), and in memory for find_cached_binary and tune::compile.
/// Returns at once: a thread of its own writes those that have gathered. No compile_scope concerns
/// it. Thread-safe.
/// @param included  the files that it was compiled from, which are remembered (included_memory.hpp)
void cache_binary(const context& context, const program_source& source,
                  std::vector<std::byte> binary, const included_files& included = {});

/// Waits until everything that was given to cache_binary is written. The end of the process waits
/// too.
void flush_cached_binaries();

/// Takes programs from a cache, and has another compiler make and then keeps those that it lacks.
/// A binary that the driver does not accept is forgotten, and its source compiled again. Failures
/// to compile are not kept.
///
/// A program is found only if its text, headers and options, the device, the compiler and the
/// content of the files that it includes are the same to the letter. Where its compiler does not
/// tell these files, it is always compiled.
class cached_compiler final : public compiler {
 public:
  /// @param inner  outlives this
  /// @param cache  null: there is none
  /// @param recent  binaries that need not be read from the cache again; null: all are read
  /// @param keeps  false: programs are taken from the cache, and none is added
  cached_compiler(const compiler& inner, std::shared_ptr<const binary_cache> cache,
                  std::shared_ptr<recent_binaries> recent = nullptr, bool keeps = true) noexcept;

 private:
  program do_build(const context& context, const program_source& source) const override;

  const compiler& inner_;
  std::shared_ptr<const binary_cache> cache_;
  std::shared_ptr<recent_binaries> recent_;
  bool keeps_;
};

}  // namespace tune
