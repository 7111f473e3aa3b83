// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/usable_resources.hpp"

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
// Version 1 says "no limit" by a number close to the greatest.
constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;

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

/// The folder of a group and those above it, within the mount. In a container the group's path may
/// be one that only the machine outside knows; then the mount itself is the group.
std::vector<fs::path> folders_of(const fs::path& mount, const std::string& group) {
  std::vector<fs::path> folders;
  fs::path inner = fs::path(group).relative_path();
  while (!inner.empty()) {
    folders.push_back(mount / inner);
    inner = inner.parent_path();
  }
  folders.push_back(mount);
  return folders;
}

/// What limits one controller: where its files are, and which version they are of.
struct controller {
  std::vector<fs::path> folders;
  bool unified = false;
};

std::vector<controller> controllers(const fs::path& root, const std::string& name) {
  const fs::path mount = root / "sys/fs/cgroup";
  std::vector<controller> found;
  const auto groups = parse_groups(read(root / "proc/self/cgroup"));
  if (const auto group = groups.find(name); group != groups.end()) {
    found.push_back({folders_of(mount / name, group->second), false});
  }
  if (const auto group = groups.find(""); group != groups.end()) {
    found.push_back({folders_of(mount, group->second), true});
  }
  return found;
}

double cores_of_groups(const fs::path& root) {
  double cores = std::numeric_limits<double>::infinity();
  for (const controller& item : controllers(root, "cpu")) {
    for (const fs::path& folder : item.folders) {
      const auto limit = item.unified ? parse_cpu_max(read(folder / "cpu.max"))
                                      : parse_cpu_quota(read(folder / "cpu.cfs_quota_us"),
                                                        read(folder / "cpu.cfs_period_us"));
      if (limit) cores = std::min(cores, *limit);
    }
  }
  return cores;
}

// What the page cache holds of a group's memory is given back when it is needed.
std::optional<std::uint64_t> memory_left(const fs::path& folder, bool unified) {
  const auto limit =
      parse_memory_limit(read(folder / (unified ? "memory.max" : "memory.limit_in_bytes")));
  if (!limit) return std::nullopt;
  const auto used =
      parse_memory_limit(read(folder / (unified ? "memory.current" : "memory.usage_in_bytes")));
  const auto cached =
      parse_field(read(folder / "memory.stat"), unified ? "inactive_file" : "total_inactive_file");
  const std::uint64_t taken = used.value_or(0) - std::min(used.value_or(0), cached.value_or(0));
  return *limit - std::min(*limit, taken);
}

std::uint64_t usable_memory(const fs::path& root) {
  constexpr std::uint64_t kibi = 1024;
  std::uint64_t bytes =
      kibi * parse_field(read(root / "proc/meminfo"), "MemAvailable:").value_or(0);
  for (const controller& item : controllers(root, "memory")) {
    for (const fs::path& folder : item.folders) {
      if (const auto left = memory_left(folder, item.unified)) bytes = std::min(bytes, *left);
    }
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

std::map<std::string, std::string, std::less<>> parse_groups(std::string_view text) {
  std::map<std::string, std::string, std::less<>> groups;
  for_each_line(text, [&](std::string_view line) {
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) return;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) return;
    std::string_view names = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    while (true) {
      const std::size_t comma = names.find(',');
      groups.emplace(names.substr(0, comma), path);
      if (comma == std::string_view::npos) return;
      names.remove_prefix(comma + 1);
    }
  });
  return groups;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const std::string_view quota = next_word(text);
  return parse_cpu_quota(quota, next_word(text));
}

std::optional<double> parse_cpu_quota(std::string_view quota, std::string_view period) {
  const auto allowed = number(next_word(quota));
  const auto of = number(next_word(period));
  if (!allowed || !of || *allowed <= 0 || *of <= 0) return std::nullopt;
  return static_cast<double>(*allowed) / static_cast<double>(*of);
}

std::optional<std::uint64_t> parse_memory_limit(std::string_view text) {
  const auto value = number(next_word(text));
  if (!value || *value < 0 || static_cast<std::uint64_t>(*value) >= no_limit) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
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
