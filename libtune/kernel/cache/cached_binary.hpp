// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The program cache for those who have binaries rather than programs, such as a search whose
// programs are compiled by a pool. keep_no_programs does not concern it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"

namespace tune {

/// What program_cache() has for the source, under the same key as tune::compile uses. Empty if it
/// is not there, there is no cache, or the source includes files. Never throws for what the cache
/// is like. Thread-safe.
std::optional<std::vector<std::byte>> find_cached_binary(const context& context,
                                                         const program_source& source);

/// Keeps a binary in program_cache(), and in memory for find_cached_binary and tune::compile. Comes
/// back at once: a thread of its own writes what has gathered. Thread-safe.
void cache_binary(const context& context, const program_source& source,
                  std::vector<std::byte> binary);

/// Waits until everything that was given to cache_binary is written. The end of the process waits
/// too.
void flush_cached_binaries();

}  // namespace tune
