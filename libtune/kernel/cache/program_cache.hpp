// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Storage for compiled programs, in files and in memory: as programs for tune::compile, and as
// binaries from workers for a search.
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

/// Binaries that this process has recently loaded or made. They have been checked already, so that
/// using one again accesses no file. The least recently used are removed. Thread-safe.
class recent_binaries {
 public:
  using binary = std::shared_ptr<const std::vector<std::byte>>;

  /// @param cap_bytes  of all of them together
  explicit recent_binaries(std::size_t cap_bytes = std::size_t{16} << 20) noexcept
      : cap_bytes_(cap_bytes) {}

  /// Returns the binary; null if it is missing.
  binary find(const detail::sha256_digest& key);
  /// Keeps a binary, unless it exceeds the cap by itself.
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
  std::list<entry> entries_;  // the latest first; few, so a linear search is cheap
  std::size_t bytes_ = 0;
  std::size_t cap_bytes_;
};

/// The cache of compiled programs according to the present LIBTUNE_CACHE: in the folder that it
/// names, by default in programs in the user's cache folder. Null if it says off, or if it is unset
/// and the user has no cache folder. The same object is returned while the folder stays the same.
/// Thread-safe.
std::shared_ptr<const binary_cache> program_cache();

/// The recent binaries of this process from that cache; reset when the folder changes. Null if
/// there is no cache. Thread-safe.
std::shared_ptr<recent_binaries> recent_programs();

/// Returns the binary of the source in program_cache(), under tune::compile's key. Empty if it is
/// missing, there is no cache, or an included file has changed. Never throws because of the state
/// of the cache. Thread-safe.
std::optional<std::vector<std::byte>> find_cached_binary(const context& context,
                                                         const program_source& source);

/// Stores a binary in program_cache(), and in memory for find_cached_binary and tune::compile.
/// Returns at once: a separate thread writes the files, several at once if they have accumulated.
/// Independent of any compile_scope. Thread-safe.
/// @param included  the files that it was compiled from, which are remembered (included_memory.hpp)
void cache_binary(const context& context, const program_source& source,
                  std::vector<std::byte> binary, const included_files& included = {});

/// Waits until all binaries from cache_binary are written. The process also waits at its end.
void flush_cached_binaries();

/// Takes programs from a cache; for missing ones it calls another compiler and stores the result. A
/// binary that the driver does not accept is removed, and its source compiled again. Failures to
/// compile are not stored.
///
/// A program is found only if its text, headers and options, the device, the compiler and the
/// content of the included files are identical. If its compiler does not report these files, it is
/// always compiled.
class cached_compiler final : public compiler {
 public:
  /// @param inner  has to outlive this object
  /// @param cache  may be null
  /// @param recent  binaries in memory; null: all are read from the cache
  /// @param keeps  false: programs are taken from the cache, but not added
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
