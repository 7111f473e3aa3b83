// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/included_memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
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

namespace fs = std::filesystem;

/// The files of a program, and the places where a new file would be read instead of one of these.
struct file_list {
  std::vector<included_file> read;
  std::vector<std::string> absent;

  friend bool operator==(const file_list&, const file_list&) = default;
};

// A header rarely changes the set of files that a program includes.
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

  /// Adds a list, and returns all lists of the program.
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

constexpr std::string_view absent_word = "absent";

// A line for each file with digest and path, and for each absent one; an empty line ends a list.
std::vector<std::byte> encode(const std::vector<file_list>& lists) {
  std::string text;
  for (const file_list& list : lists) {
    for (const included_file& file : list.read) text += file.digest + ' ' + file.path + '\n';
    for (const std::string& path : list.absent) text += fmt::format("{} {}\n", absent_word, path);
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
      const std::string path = line.substr(blank + 1), digest = line.substr(0, blank);
      if (digest == absent_word) {
        list.absent.push_back(path);
      } else {
        list.read.push_back({path, digest});
      }
    }
  }
  return lists;
}

// The current folder is a part of the key, because it is the base of relative paths.
binary_key list_key(const context& context, const program_source& source) {
  std::error_code ignored;
  binary_key key = program_key(context, source);
  key.add("files read and absent from", fs::current_path(ignored).string());
  return key;
}

/// Returns the folders in which compilers may search for a file of a program: those of its options,
/// those of the files that it reads, and the current one.
std::set<fs::path> searched_folders(const program_source& source,
                                    const std::vector<included_file>& read) {
  std::error_code ignored;
  std::set<fs::path> folders{fs::current_path(ignored)};
  with_include_folders(source.options, [&](const std::string& folder) {
    const std::string normal = fs::absolute(folder, ignored).lexically_normal().string();
    folders.insert(normal.size() > 1 && normal.ends_with('/') ? fs::path(normal).parent_path()
                                                              : fs::path(normal));
    return folder;
  });
  for (const included_file& file : read) folders.insert(fs::path(file.path).parent_path());
  return folders;
}

/// Returns the missing part of a path: the uppermost folder, or the file. Empty if the path exists.
std::string absent_part(const fs::path& folder, const fs::path& name) {
  std::error_code ignored;
  fs::path place = folder;
  for (const fs::path& part : name) {
    place /= part;
    if (!fs::exists(place, ignored)) return place.string();
  }
  return {};
}

/// Returns the places where a new file might be read instead of another one: the name of each file
/// relative to a searched folder, in all other folders.
std::vector<std::string> absent_places(const program_source& source,
                                       const std::vector<included_file>& read) {
  const std::set<fs::path> folders = searched_folders(source, read);
  std::set<fs::path> names;
  for (const included_file& file : read) {
    for (const fs::path& folder : folders) {
      if (file.path.starts_with(folder.string() + '/')) {
        names.insert(file.path.substr(folder.string().size() + 1));
      }
    }
  }
  std::set<std::string> absent;
  for (const fs::path& name : names) {
    for (const fs::path& folder : folders) absent.insert(absent_part(folder, name));
  }
  absent.erase("");
  return {absent.begin(), absent.end()};
}

binary_key key_with(binary_key key, const std::vector<included_file>& files) {
  for (const included_file& file : files) key.add("file", file.path).add("content", file.digest);
  return key;
}

bool is_unchanged(const file_list& list) {
  std::error_code ignored;
  return std::ranges::none_of(list.absent,
                              [&](const std::string& path) { return fs::exists(path, ignored); }) &&
         read_again(list.read) == included_files(list.read);
}

const file_list* find_unchanged(const std::vector<file_list>& lists) {
  const auto found = std::ranges::find_if(lists, is_unchanged);
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
  const std::vector<file_list> lists = find_lists(context, source);
  const file_list* const same = find_unchanged(lists);
  if (same == nullptr) return std::nullopt;
  return key_with(program_key(context, source), same->read);
}

included_files present_included(const context& context, const program_source& source) {
  const std::vector<file_list> lists = find_lists(context, source);
  if (const file_list* const same = find_unchanged(lists)) return same->read;
  return lists.empty() ? std::nullopt : read_again(lists.front().read);
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
  return remembered_files{.key = key_with(program_key(context, source), *files),
                          .lists = {.key = key.digest(),
                                    .binary = encode(memory().add(
                                        key.digest(), {*files, absent_places(source, *files)}))}};
}

}  // namespace tune
