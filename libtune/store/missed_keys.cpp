// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/missed_keys.hpp"

#include <array>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database_failure.hpp"
#include "libtune/store/database_file.hpp"
#include "libtune/store/database_trust.hpp"
#include "libtune/store/private_folder.hpp"
#include "libtune/store/replaced_file.hpp"
#include "libtune/store/tuning_layers.hpp"
#include "libtune/store/without_size_signal.hpp"

namespace tune {
namespace {

using detail::file_descriptor;

/// What this process knows to be in each file.
struct known_lines {
  std::mutex mutex;
  std::map<std::string, std::set<std::string, std::less<>>> of;
};

known_lines& all_known() {
  static detail::never_destroyed<known_lines> known;
  return *known;
}

[[noreturn]] void fail(const std::string& path, const char* attempt, const std::string& reason) {
  throw detail::database_failure(path, attempt, reason,
                                 "mend that, or name another file with LIBTUNE_MISSED");
}

std::string last_reason() { return std::generic_category().message(errno); }

std::uint64_t size_of(const file_descriptor& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "look at it", last_reason());
  if (!S_ISREG(status.st_mode)) fail(path, "open it", "it is no regular file");
  return static_cast<std::uint64_t>(status.st_size);
}

/// Opens the file in the folder that was judged, whatever takes that folder's path meanwhile. None
/// where there is no file. O_NONBLOCK, because what lies there may be a pipe.
file_descriptor open_file(const std::string& path, int flags, ::mode_t mode = 0) {
  const file_descriptor folder = detail::open_folder_of(path);
  if (!folder) {
    if (errno == ENOENT) return file_descriptor();
    fail(path, "reach its folder", last_reason());
  }
  detail::require_trust(folder, path);
  const std::string name = std::filesystem::path(path).filename().string();
  file_descriptor file(
      ::openat(folder.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode));
  if (!file && errno != ENOENT && errno != EEXIST) fail(path, "open it", last_reason());
  return file;
}

std::string read_all(const std::string& path) {
  const file_descriptor file = open_file(path, O_RDONLY);
  if (!file) return {};
  const std::uint64_t size = size_of(file, path);
  if (size > missed_keys::most_bytes) fail(path, "read it", "it is no file of missed keys");
  std::string text(size, '\0');
  std::size_t read = 0;
  while (read < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + read, text.size() - read);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "read it", last_reason());
    if (count == 0) break;
    read += static_cast<std::size_t>(count);
  }
  text.resize(read);
  return text;
}

template <class Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty()) use(line);
  }
}

file_descriptor open_to_append(const std::string& path) {
  constexpr int append = O_WRONLY | O_APPEND;
  const ::mode_t mode = detail::shares_database() ? 0660 : 0600;
  file_descriptor file = open_file(path, append | O_CREAT | O_EXCL, mode);
  if (!file) return open_file(path, append);
  ::fchmod(file.get(), mode);  // the process may have a mask that keeps even the owner out
  return file;
}

// One write, so that lines of several processes do not mix. An end that somebody left without a
// line feed spoils no line but its own.
void append(const std::string& path, const std::string& line, bool after_half_a_line) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (const std::error_code reason = detail::create_private_folders(folder)) {
    fail(path, "create its folder", reason.message());
  }
  const file_descriptor file = open_to_append(path);
  if (!file) fail(path, "open it", "somebody removes it just now");
  const std::string text = (after_half_a_line ? "\n" : "") + line + '\n';
  if (size_of(file, path) + text.size() > missed_keys::most_bytes) {
    fail(path, "note a key",
         fmt::format("it has {} bytes at most; 'tunedb missed --clear' empties it",
                     missed_keys::most_bytes));
  }
  const detail::without_size_signal quiet;
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) fail(path, "note a key", last_reason());
}

/// The key of a line; empty if remember has not written it.
std::optional<missed_key> readable(std::string_view line) {
  try {
    return from_missed_line(line);
  } catch (const argument_error&) {
    return std::nullopt;
  }
}

/// Whether a file begins as one of missed keys does, a newer libtune's and half a line included.
bool is_own(std::string_view text) {
  constexpr std::string_view begin = "{\"libtune_missed\"";
  return text.substr(0, begin.size()) == begin.substr(0, std::min(text.size(), begin.size()));
}

std::string own_program() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

std::string now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

void note(const std::string& path, const std::string& line) {
  const std::string identity(missed_identity(line));
  const std::lock_guard lock(all_known().mutex);
  auto [known, is_new] = all_known().of.try_emplace(path);
  auto& lines = known->second;
  if (lines.contains(identity)) return;
  bool half_a_line = false;
  if (is_new) {
    const std::string text = read_all(path);
    if (!is_own(text)) fail(path, "note a key", "it is no file of missed keys");
    for_each_line(text, [&](std::string_view each) { lines.emplace(missed_identity(each)); });
    half_a_line = !text.empty() && text.back() != '\n';
  }
  // Also one that cannot be written is not tried again.
  if (lines.insert(identity).second) append(path, line, half_a_line);
}

}  // namespace

void missed_keys::remember(const function_identity& function,
                           const record_key& key) const noexcept {
  if (path_.empty() || ::getauxval(AT_SECURE) != 0) return;
  try {
    note(detail::absolute_path(path_), to_missed_line({function, key, now(), own_program()}));
  } catch (const std::exception& failure) {
    log(log_level::debug, failure.what());
  }
}

missed_keys::contents missed_keys::read() const {
  contents found;
  if (path_.empty()) return found;
  std::map<std::string, std::size_t, std::less<>> seen;
  std::vector<std::optional<missed_key>> keys;
  for_each_line(read_all(detail::absolute_path(path_)), [&](std::string_view line) {
    try {
      missed_key key = from_missed_line(line);
      const auto [place, is_new] = seen.try_emplace(std::string(missed_identity(line)), 0);
      if (!is_new) keys[place->second].reset();
      place->second = keys.size();
      keys.emplace_back(std::move(key));
    } catch (const argument_error& failure) {
      ++found.unreadable;
      log(log_level::debug, fmt::format("'{}': {}", path_, failure.what()));
    }
  });
  for (auto& key : keys) {
    if (key) found.keys.push_back(*std::move(key));
  }
  return found;
}

std::size_t missed_keys::remove(const std::function<bool(const missed_key&)>& gone) const {
  if (path_.empty()) return 0;
  const std::string path = detail::absolute_path(path_);
  const std::string text = read_all(path);
  std::string left;
  std::set<std::string, std::less<>> removed;
  // What is not ours stays: the path may name another file by mistake.
  for_each_line(text, [&](std::string_view line) {
    const auto key = readable(line);
    if (key && gone(*key)) {
      removed.emplace(missed_identity(line));
    } else {
      left += std::string(line) + '\n';
    }
  });
  if (removed.empty()) return 0;
  if (!left.empty()) {
    replace_file(path, left);
  } else if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    fail(path, "remove it", last_reason());
  }
  return removed.size();
}

std::vector<missed_key> still_missing(std::vector<missed_key> keys, const tuning_layers& layers) {
  std::erase_if(keys, [&](const missed_key& missed) {
    return layers.find(missed.function, missed.key).has_value();
  });
  return keys;
}

}  // namespace tune
