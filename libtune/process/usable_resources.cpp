// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/usable_resources.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <sched.h>
#include <vector>

namespace tune::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t bytes_of_a_worker = std::uint64_t{512} << 20;
constexpr std::uint64_t most_bytes_of_a_worker = std::uint64_t{4} << 30;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string_view next_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
  const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

std::optional<std::int64_t> number(std::string_view word) {
  std::int64_t value = 0;
  const auto [stop, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failure != std::errc{} || stop != word.data() + word.size()) return std::nullopt;
  return value;
}

template <class Function>
void for_each_line(std::string_view text, Function function) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    function(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The folder of this process's group and its parents, within the mount; empty without groups of
/// version 2. In a container, the group's path may be valid only outside it; then the mount itself
/// is the group.
std::vector<fs::path> group_folders(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  const auto group = parse_group(read(root / "proc/self/cgroup"));
  if (!group) return {};
  std::vector<fs::path> folders;
  for (fs::path inner = fs::path(*group).relative_path(); !inner.empty();
       inner = inner.parent_path()) {
    folders.push_back(mount / inner);
  }
  folders.push_back(mount);
  return folders;
}

double cores_of_groups(const fs::path& root) {
  double cores = std::numeric_limits<double>::infinity();
  for (const fs::path& folder : group_folders(root)) {
    cores = std::min(cores, parse_cpu_max(read(folder / "cpu.max")).value_or(cores));
  }
  return cores;
}

// The part of a group's memory in the page cache counts as free, because the system reclaims it.
std::optional<std::uint64_t> memory_left(const fs::path& folder) {
  const auto limit = parse_memory_limit(read(folder / "memory.max"));
  if (!limit) return std::nullopt;
  const auto used = parse_memory_limit(read(folder / "memory.current")).value_or(0);
  const auto cached = parse_field(read(folder / "memory.stat"), "inactive_file").value_or(0);
  const std::uint64_t taken = used - std::min(used, cached);
  return *limit - std::min(*limit, taken);
}

std::uint64_t usable_memory(const fs::path& root) {
  constexpr std::uint64_t kibi = 1024;
  std::uint64_t bytes =
      kibi * parse_field(read(root / "proc/meminfo"), "MemAvailable:").value_or(0);
  for (const fs::path& folder : group_folders(root)) {
    bytes = std::min(bytes, memory_left(folder).value_or(bytes));
  }
  return bytes;
}

int cores_by_affinity() {
  for (int most = CPU_SETSIZE; most <= 64 * CPU_SETSIZE; most *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(most));
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    const bool told = ::sched_getaffinity(0, bytes, set) == 0;
    const int count = told ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (told) return std::max(count, 1);
  }
  return 1;
}

}  // namespace

std::optional<std::string> parse_group(std::string_view text) {
  constexpr std::string_view unified = "0::";
  std::optional<std::string> group;
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with(unified)) group = line.substr(unified.size());
  });
  return group;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto allowed = number(next_word(text));
  const auto of = number(next_word(text));
  if (!allowed || !of || *allowed <= 0 || *of <= 0) return std::nullopt;
  return static_cast<double>(*allowed) / static_cast<double>(*of);
}

std::optional<std::uint64_t> parse_memory_limit(std::string_view text) {
  const auto value = number(next_word(text));
  return value && *value >= 0 ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

std::optional<std::uint64_t> parse_field(std::string_view text, std::string_view word) {
  std::optional<std::uint64_t> found;
  for_each_line(text, [&](std::string_view line) {
    if (found || next_word(line) != word) return;
    const auto value = number(next_word(line));
    if (value && *value >= 0) found = static_cast<std::uint64_t>(*value);
  });
  return found;
}

usable_resources find_usable_resources(const fs::path& root) {
  usable_resources found{.cores = cores_by_affinity(), .memory_bytes = usable_memory(root)};
  const double quota = cores_of_groups(root);
  if (quota < found.cores) found.cores = std::max(1, static_cast<int>(std::lround(quota)));
  return found;
}

int worker_count(const usable_resources& resources) noexcept {
  const std::uint64_t fitting =
      std::max<std::uint64_t>(1, resources.memory_bytes / bytes_of_a_worker);
  return static_cast<int>(std::min<std::uint64_t>(fitting, static_cast<unsigned>(resources.cores)));
}

std::uint64_t worker_memory_bytes(const usable_resources& resources, int workers) noexcept {
  const std::uint64_t share =
      resources.memory_bytes / 4 * 3 / static_cast<unsigned>(std::max(workers, 1));
  return std::clamp(share, bytes_of_a_worker, most_bytes_of_a_worker);
}

}  // namespace tune::detail
