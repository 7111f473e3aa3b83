// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/included_memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/kernel/cache/program_cache.hpp"
#include "libtune/kernel/cache/program_digest.hpp"

namespace tune {
namespace {

using file_list = std::vector<included_file>;

// One header rarely makes a program include others.
constexpr std::size_t most_lists = 8;
constexpr std::size_t most_programs = 65536;

/// The lists of each program, the latest first.
class list_memory {
 public:
  std::vector<file_list> find(const detail::sha256_digest& program) {
    const std::lock_guard lock(mutex_);
    const auto found = lists_.find(program);
    return found == lists_.end() ? std::vector<file_list>() : found->second;
  }

  /// Returns all lists of the program.
  std::vector<file_list> add(const detail::sha256_digest& program, file_list files) {
    const std::lock_guard lock(mutex_);
    if (lists_.size() >= most_programs) lists_.clear();
    std::vector<file_list>& lists = lists_[program];
    std::erase(lists, files);
    lists.insert(lists.begin(), std::move(files));
    if (lists.size() > most_lists) lists.pop_back();
    return lists;
  }

 private:
  std::mutex mutex_;
  std::map<detail::sha256_digest, std::vector<file_list>> lists_;
};

list_memory& memory() {
  static detail::never_destroyed<list_memory> made;
  return *made;
}

// A line for each file, digest and path; an empty line ends a list.
std::vector<std::byte> encode(const std::vector<file_list>& lists) {
  std::string text;
  for (const file_list& list : lists) {
    for (const included_file& file : list) text += file.digest + ' ' + file.path + '\n';
    text += '\n';
  }
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<file_list> decode(const std::vector<std::byte>& bytes) {
  std::istringstream lines(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<file_list> lists;
  file_list list;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      lists.push_back(std::exchange(list, {}));
    } else if (const std::size_t blank = line.find(' '); blank != std::string::npos) {
      list.push_back({line.substr(blank + 1), line.substr(0, blank)});
    }
  }
  return lists;
}

// The same text includes other files where relative paths begin elsewhere.
binary_key list_key(const context& context, const program_source& source) {
  std::error_code ignored;
  binary_key key = program_key(context, source);
  key.add("files of", std::filesystem::current_path(ignored).string());
  return key;
}

binary_key key_with(binary_key key, const file_list& files) {
  for (const included_file& file : files) key.add("file", file.path).add("content", file.digest);
  return key;
}

const file_list* find_unchanged(const std::vector<file_list>& lists) {
  const auto found = std::ranges::find_if(
      lists, [](const file_list& list) { return read_again(list) == included_files(list); });
  return found == lists.end() ? nullptr : &*found;
}

std::vector<file_list> find_lists(const context& context, const program_source& source) {
  const binary_key key = list_key(context, source);
  const detail::sha256_digest digest = key.digest();
  std::vector<file_list> lists = memory().find(digest);
  if (find_unchanged(lists) != nullptr) return lists;
  const auto cache = program_cache();
  const auto kept = cache != nullptr ? cache->load(key) : std::nullopt;
  if (!kept) return lists;
  std::vector<file_list> more = decode(*kept);
  for (auto list = more.rbegin(); list != more.rend(); ++list) memory().add(digest, *list);
  lists.insert(lists.end(), more.begin(), more.end());
  return lists;
}

}  // namespace

std::optional<binary_key> present_key(const context& context, const program_source& source) {
  if (!may_include(source)) return program_key(context, source);
  const std::vector<file_list> lists = find_lists(context, source);
  const file_list* const same = find_unchanged(lists);
  if (same == nullptr) return std::nullopt;
  return key_with(program_key(context, source), *same);
}

included_files present_included(const context& context, const program_source& source) {
  const std::vector<file_list> lists = find_lists(context, source);
  if (const file_list* const same = find_unchanged(lists)) return *same;
  return lists.empty() ? std::nullopt : read_again(lists.front());
}

std::optional<remembered_files> remember_included(const context& context,
                                                  const program_source& source,
                                                  const included_files& files) {
  if (!files) {
    const tune::device device = context.device();
    warn_once(fmt::format(
        "programs for device '{}' that include files, such as '{}', are compiled each time, "
        "because their compiler does not tell which files it reads; headers that are handed in as "
        "texts (kernel_source::headers) and helper processes that compile (libtune-worker) help",
        device.name(), source.name));
    return std::nullopt;
  }
  const binary_key key = list_key(context, source);
  return remembered_files{
      .key = key_with(program_key(context, source), *files),
      .lists = {.key = key.digest(), .binary = encode(memory().add(key.digest(), *files))}};
}

}  // namespace tune
