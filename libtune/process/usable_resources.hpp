// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What of the machine this process may use, which in a container or a batch job is less than what
// the machine has.
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
  std::uint64_t memory_bytes = 0;  ///< that can be had now without swapping
};

/// By affinity, control groups of version 2, and what is free.
/// @param root  where proc and sys are
usable_resources find_usable_resources(const std::filesystem::path& root = "/");

/// How many workers that gives: one for each core, if there is memory for them. At least one.
int worker_count(const usable_resources& resources) noexcept;
/// How much memory each of so many may have.
std::uint64_t worker_memory_bytes(const usable_resources& resources, int workers) noexcept;

// The files that say so, as texts.

/// The group of a process, from the line of version 2 in /proc/self/cgroup; empty if it has none.
std::optional<std::string> parse_group(std::string_view text);
/// cpu.max: "150000 100000" is a core and a half; empty if there is no limit.
std::optional<double> parse_cpu_max(std::string_view text);
/// memory.max; empty if there is no limit.
std::optional<std::uint64_t> parse_memory_limit(std::string_view text);
/// The number after a word at the start of a line, as memory.stat and /proc/meminfo have them.
std::optional<std::uint64_t> parse_field(std::string_view text, std::string_view word);

}  // namespace tune::detail
