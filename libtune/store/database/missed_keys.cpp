// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/missed_keys.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <functional>
#include <limits>
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
#include "libtune/base/signals.hpp"
#include "libtune/store/database/column.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/store/files/file_lock.hpp"
#include "libtune/store/files/file_system.hpp"

namespace tune {
namespace {

using detail::file_descriptor;
using detail::file_lock;
using detail::input;
using detail::json;
using detail::lock_attempt;
using detail::member;

constexpr int line_version = 1;
constexpr std::string_view missed_suffix = "-missed";

/// The keys that this process has tried to note.
struct noted_keys {
  std::mutex mutex;
  std::set<std::string> all;
};

[[noreturn]] void fail(const std::string& path, const char* attempt, const std::string& reason) {
  throw detail::database_failure(path, attempt, reason,
                                 "mend that, or name another file with LIBTUNE_MISSED");
}

std::string last_reason() { return std::generic_category().message(errno); }

/// Returns the beginning of a line, which is the same for all lines of one key.
std::string line_begin(const function_identity& function, const record_key& key) {
  json object{{"libtune_missed", line_version}};
  object.update(detail::exact_json(function));
  object["arguments"] = detail::exact_json(key.arguments);
  object["device"] = detail::exact_json(key.device);
  std::string text = object.dump();
  text.back() = ',';
  return text + "\"missed_at\":";
}

std::string own_program() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

std::string line_end(std::span<const asked_count> asked = {}) {
  std::string sizes;
  if (!asked.empty()) {
    json all = json::array();
    for (const asked_count& each : asked) {
      all.push_back({{"sizes", each.sizes}, {"count", each.count}});
    }
    sizes = ",\"asked\":" + all.dump();
  }
  return fmt::format("\"{:%Y-%m-%dT%H:%M:%SZ}\",\"program\":{}{}}}\n",
                     fmt::gmtime(std::time(nullptr)), detail::text_to_json(own_program()).dump(),
                     sizes);
}

std::uint64_t count_from_json(const input& item) {
  if (!item.is_number_unsigned()) detail::refuse_document("a size or its count is no whole number");
  return item.get<std::uint64_t>();
}

std::vector<asked_count> asked_from_json(const input& object) {
  std::vector<asked_count> all;
  if (!object.contains("asked")) return all;
  for (const input& item : detail::array_member(object, "asked")) {
    asked_count& one = all.emplace_back();
    for (const input& size : detail::array_member(item, "sizes")) {
      one.sizes.push_back(count_from_json(size));
    }
    one.count = count_from_json(member(item, "count"));
  }
  return all;
}

/// @throws argument_error if the line is not a key that a database could have
missed_key read_line(std::string_view line) {
  const input object = detail::parse_json(line, false);
  if (object.is_discarded()) detail::refuse_document("it is not JSON");
  if (member(object, "libtune_missed") != line_version) {
    detail::refuse_document("it is of another version");
  }
  missed_key missed;
  missed.function = detail::function_from_json(object);
  missed.key.arguments = detail::values_from_json(object, "arguments", missed.function.key_fields);
  missed.key.device = detail::device_from_json(member(object, "device"));
  missed.missed_at = detail::text_from_json(member(object, "missed_at"));
  missed.program = detail::text_from_json(member(object, "program"));
  missed.asked = asked_from_json(object);
  static_cast<void>(table_name(missed.function));
  check_field_names(missed.function);
  detail::check_key(missed.function.key_fields, missed.key.arguments, missed.function.name);
  return missed;
}

/// Empty if there is no file. O_NONBLOCK, because the path may be a pipe.
file_descriptor open_file(const std::string& path, int flags) {
  detail::require_trust(path);
  file_descriptor file(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno != ENOENT) fail(path, "open it", last_reason());
  return file;
}

/// Opens the file with a lock against other writers. After the wait it continues without the lock:
/// at worst a key is noted twice, or only when the next program misses it. The wait is short,
/// because it is a part of a lookup.
file_lock open_alone(const std::string& path, int flags,
                     std::chrono::milliseconds wait = std::chrono::milliseconds(50)) {
  file_lock lock;
  detail::keep_trying(wait, [&] {
    if (!lock.file()) lock = file_lock(open_file(path, flags));
    const lock_attempt attempt = lock.try_take();
    if (attempt == lock_attempt::removed) lock = file_lock();
    return attempt == lock_attempt::taken || attempt == lock_attempt::impossible;
  });
  return lock;
}

std::string read_all(const file_descriptor& file, const std::string& path) {
  if (!file) return {};
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "look at it", last_reason());
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode)) fail(path, "read it", "it is no regular file");
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

/// True if a file begins like a file of missed keys, including a newer libtune's and an incomplete
/// line.
bool is_own(std::string_view text) {
  constexpr std::string_view begin = "{\"libtune_missed\"";
  return text.substr(0, begin.size()) == begin.substr(0, std::min(text.size(), begin.size()));
}

// A single write, because readers take no lock and must not see a partial line.
void append(const file_descriptor& file, const std::string& path, const std::string& text) {
  const detail::without_size_signal quiet;
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) fail(path, "note a key", last_reason());
}

/// A device or a folder at the database's path is not a database, and gets no file of missed keys.
void require_database(const std::string& path) {
  if (!path.ends_with(missed_suffix)) return;
  struct stat status {};
  const std::string database = path.substr(0, path.size() - missed_suffix.size());
  if (::stat(database.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    fail(path, "note a key", "'" + database + "' is no database");
  }
}

void note(const std::string& path, const std::string& begin) {
  require_database(path);
  detail::create_private_file(path);
  const file_lock lock = open_alone(path, O_RDWR | O_APPEND);
  const std::string before = read_all(lock.file(), path);
  if (!is_own(before)) fail(path, "note a key", "it is no file of missed keys");
  if (('\n' + before).find('\n' + begin) != std::string::npos) return;
  // A line feed separates the new line from an incomplete last one.
  const bool after_half_a_line = !before.empty() && before.back() != '\n';
  const std::string line = (after_half_a_line ? "\n" : "") + begin + line_end();
  if (before.size() + line.size() > missed_keys::most_bytes) {
    fail(path, "note a key",
         fmt::format("it has {} bytes at most; 'tunedb missed --clear' empties it",
                     missed_keys::most_bytes));
  }
  append(lock.file(), path, line);
}

void add_to(std::vector<asked_count>& all, std::span<const asked_count> more) {
  for (const asked_count& each : more) {
    const auto known = std::ranges::find(all, each.sizes, &asked_count::sizes);
    if (known == all.end()) {
      all.push_back(each);
    } else {
      known->count +=
          std::min(each.count, std::numeric_limits<std::uint64_t>::max() - known->count);
    }
  }
}

/// Returns the sizes in a line; empty if it cannot be read.
std::vector<asked_count> asked_in(std::string_view line) {
  try {
    return read_line(line).asked;
  } catch (const argument_error& failure) {
    log(log_level::debug, failure.what());
    return {};
  }
}

// The line is replaced by rewriting the whole file, so the lock is required here.
void note_sizes(const std::string& path, const std::string& begin,
                std::span<const asked_count> asked) {
  require_database(path);
  detail::create_private_file(path);
  const file_lock lock = open_alone(path, O_RDWR, std::chrono::seconds(1));
  if (lock.file() && !lock.is_taken()) fail(path, "note sizes", "other programs are writing to it");
  const std::string before = read_all(lock.file(), path);
  if (!is_own(before)) fail(path, "note sizes", "it is no file of missed keys");
  std::string others;
  std::vector<asked_count> all;
  for_each_line(before, [&](std::string_view line) {
    if (line.starts_with(begin)) {
      add_to(all, asked_in(line));
    } else {
      others += std::string(line) + '\n';
    }
  });
  add_to(all, asked);
  std::ranges::stable_sort(all, std::ranges::greater(), &asked_count::count);
  if (all.size() > missed_keys::most_sizes) all.resize(missed_keys::most_sizes);
  const std::string line = begin + line_end(all);
  if (others.size() + line.size() > missed_keys::most_bytes) {
    fail(path, "note sizes",
         fmt::format("it has {} bytes at most; 'tunedb missed --clear' empties it",
                     missed_keys::most_bytes));
  }
  replace_file(path, others + line);
}

bool is_first_attempt(const std::string& path, const std::string& begin) {
  static detail::never_destroyed<noted_keys> noted;
  const std::lock_guard lock(noted->mutex);
  return noted->all.insert(path + '\n' + begin).second;
}

}  // namespace

void missed_keys::remember(const function_identity& function,
                           const record_key& key) const noexcept {
  if (path_.empty() || ::getauxval(AT_SECURE) != 0) return;
  try {
    const std::string path = detail::absolute_path(path_);
    const std::string begin = line_begin(function, key);
    if (is_first_attempt(path, begin)) note(path, begin);
  } catch (const std::exception& failure) {
    log(log_level::debug, failure.what());
  }
}

void missed_keys::remember(const function_identity& function, const record_key& key,
                           std::span<const asked_count> asked) const noexcept {
  if (path_.empty() || asked.empty() || ::getauxval(AT_SECURE) != 0) return;
  try {
    note_sizes(detail::absolute_path(path_), line_begin(function, key), asked);
  } catch (const std::exception& failure) {
    log(log_level::debug, failure.what());
  }
}

missed_keys::contents missed_keys::read() const {
  contents found;
  if (path_.empty()) return found;
  const std::string path = detail::absolute_path(path_);
  std::map<std::string, std::size_t> seen;
  std::vector<std::optional<missed_key>> keys;
  for_each_line(read_all(open_file(path, O_RDONLY), path), [&](std::string_view line) {
    try {
      missed_key key = read_line(line);
      const auto [place, is_new] = seen.try_emplace(line_begin(key.function, key.key), 0);
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
  const file_lock lock = open_alone(path, O_RDONLY);
  std::string left;
  std::set<std::string> removed;
  // Other lines stay: the path may name another file by mistake.
  for_each_line(read_all(lock.file(), path), [&](std::string_view line) {
    try {
      const missed_key key = read_line(line);
      if (gone(key)) {
        removed.insert(line_begin(key.function, key.key));
        return;
      }
    } catch (const argument_error&) {
    }
    left += std::string(line) + '\n';
  });
  if (removed.empty()) return 0;
  if (!left.empty()) {
    replace_file(path, left);
  } else if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    fail(path, "remove it", last_reason());
  }
  return removed.size();
}

std::vector<missed_key> still_missing(
    std::vector<missed_key> keys, const tuning_layers& layers,
    const std::function<bool(const missed_key&, const record&)>& lacks) {
  std::erase_if(keys, [&](const missed_key& missed) {
    const auto found = layers.find(missed.function, missed.key);
    return found && !(lacks && lacks(missed, *found));
  });
  return keys;
}

}  // namespace tune
