// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/lock_holder.hpp"

#include <array>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace tune {
namespace {

// The target of the link, because a process started as /proc/self/exe is called "exe".
std::string file_of(::pid_t process) {
  std::array<char, 4096> path{};
  const ::ssize_t length =
      ::readlink(fmt::format("/proc/{}/exe", process).c_str(), path.data(), path.size());
  if (length <= 0) return {};
  std::string_view found(path.data(), static_cast<std::size_t>(length));
  constexpr std::string_view gone = " (deleted)";
  if (found.ends_with(gone)) found.remove_suffix(gone.size());
  return std::string(found.substr(found.rfind('/') + 1));
}

}  // namespace

lock_holder look_at_holder(::pid_t process) {
  lock_holder seen{.process = process};
  if (process <= 0) return seen;
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string line{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // "123 (a name, which may have any characters) S ..."
  const std::size_t begin = line.find('(');
  const std::size_t end = line.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return seen;
  seen.program = file_of(process);
  if (seen.program.empty()) seen.program = line.substr(begin + 1, end - begin - 1);
  std::istringstream fields(line.substr(end + 1));
  char state = ' ';
  fields >> state;
  seen.stopped = state == 'T' || state == 't';
  std::string skipped;
  for (int i = 0; i < 10; ++i) fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  if (fields >> user >> system) seen.used_ticks = user + system;
  return seen;
}

std::optional<::pid_t> find_lock_holder(std::uint64_t device, std::uint64_t inode) {
  std::ifstream file("/proc/locks");
  const std::string place =
      fmt::format("{:02x}:{:02x}:{}", ::gnu_dev_major(device), ::gnu_dev_minor(device), inode);
  std::optional<::pid_t> found;
  // "1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0 EOF"; the line of a waiting process has "->"
  // after the first number.
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string number, kind, nature, access, where;
    ::pid_t process = 0;
    if (!(fields >> number >> kind >> nature >> access >> process >> where)) continue;
    if (where != place || process == ::getpid()) continue;
    if (access == "WRITE") return process;
    found = process;
  }
  return found;
}

std::optional<::pid_t> find_lock_holder(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return find_lock_holder(status.st_dev, status.st_ino);
}

std::string describe(const lock_holder& holder) {
  if (holder.process <= 0) return "a process of another container";
  if (holder.process == ::getpid()) return "this process";
  std::string text = fmt::format("process {}", holder.process);
  if (!holder.program.empty()) text += " (" + holder.program + ')';
  if (holder.stopped) text += ", which is stopped";
  return text;
}

}  // namespace tune
