// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cores and the memory that this process may use. In a container or a batch job these are fewer
// than the machine's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

struct usable_resources {
  int cores = 1;                   ///< at least one
  std::uint64_t memory_bytes = 0;  ///< available now without swapping
};

/// Returns the usable cores and memory from the affinity, the control groups of version 2, and the
/// free memory.
/// @param root  the folder that holds proc and sys
usable_resources find_usable_resources(const std::filesystem::path& root = "/");

/// The number of workers: one for each core, or fewer if memory is short. At least one.
int worker_count(const usable_resources& resources) noexcept;
/// The memory in bytes for each of this many workers.
std::uint64_t worker_memory_bytes(const usable_resources& resources, int workers) noexcept;

// Parsers for the system's files, which are passed as texts.

/// The group of a process, from the line of version 2 in /proc/self/cgroup; empty if there is no
/// such line.
std::optional<std::string> parse_group(std::string_view text);
/// The cores of cpu.max: "150000 100000" is a core and a half; empty if there is no limit.
std::optional<double> parse_cpu_max(std::string_view text);
/// The bytes of memory.max; empty if there is no limit.
std::optional<std::uint64_t> parse_memory_limit(std::string_view text);
/// The number after a word at the start of a line, as in memory.stat and /proc/meminfo.
std::optional<std::uint64_t> parse_field(std::string_view text, std::string_view word);

}  // namespace tune::detail
