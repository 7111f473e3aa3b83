// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/key_lock.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <sys/stat.h>
#include <system_error>

#include "libtune/base/environment.hpp"
#include "libtune/base/fork_guard.hpp"
#include "libtune/base/log.hpp"
#include "libtune/store/private_folder.hpp"
#include "libtune/store/sha256.hpp"
#include "libtune/store/user_cache_folder.hpp"

namespace tune {
namespace {

using detail::file_descriptor;
using detail::file_lock;
using detail::lock_attempt;
using detail::private_folder;

using file_id = std::pair<::dev_t, ::ino_t>;

/// The locks that this process has. A second open file would wait for the first of the same
/// process: for itself, where one template constructs another while it is being tuned.
struct held_locks {
  std::mutex mutex;
  std::map<file_id, std::weak_ptr<file_lock>> locks;
};

// Never destroyed: threads may still tune while the process ends.
held_locks& held() {
  static held_locks* const all = new held_locks;
  return *all;
}

// The database is in the hash because the folders of a user serve many.
std::string file_name(const std::string& database, std::string_view key) {
  const std::string text = database + '\n' + std::string(key);
  const auto digest = detail::sha256(std::as_bytes(std::span(text)));
  return detail::to_hex(std::span(digest).first(1));
}

/// @throws std::system_error, with what was attempted
file_descriptor open_in(const std::string& folder, const std::string& name) {
  if (const std::error_code reason = detail::create_private_folders(folder)) {
    throw std::system_error(reason, "making the folder");
  }
  const auto opened = private_folder::open(folder);
  return opened ? opened->open_lock_file(name) : file_descriptor();
}

std::optional<file_id> id_of(const file_descriptor& file) noexcept {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return std::nullopt;
  return file_id(status.st_dev, status.st_ino);
}

}  // namespace

std::vector<std::string> key_lock::folders(const std::string& database) {
  std::vector<std::string> found{database + ".locks"};
  const auto runtime = read_environment("XDG_RUNTIME_DIR");
  if (runtime && runtime->front() == '/') found.push_back(*runtime + "/libtune/locks");
  if (const auto cache = user_cache_folder()) found.push_back(*cache + "/locks");
  return found;
}

key_lock::key_lock(const std::string& database, std::string_view key) {
  const std::string name = file_name(database, key);
  for (const std::string& folder : folders(database)) paths_.push_back(folder + '/' + name);
}

bool key_lock::take(std::chrono::milliseconds wait) {
  return detail::keep_trying(wait, [&] { return try_take(); });
}

bool key_lock::try_take() {
  const detail::fork_guard no_fork;
  held_locks& all = held();
  const std::lock_guard guard(all.mutex);
  while (lock_ || open_next()) {
    const auto id = id_of(lock_->file());
    const auto known = id ? all.locks.find(*id) : all.locks.end();
    if (known != all.locks.end()) {
      const auto shared = known->second.lock();
      if (shared && shared->is_taken()) {
        lock_ = shared;
        return true;
      }
    }
    const lock_attempt attempt = lock_->try_take();
    if (attempt == lock_attempt::busy) return false;
    if (attempt == lock_attempt::taken) {
      if (id) all.locks[*id] = lock_;
      return true;
    }
    lock_.reset();
    if (attempt == lock_attempt::removed) {
      --next_;  // the next attempt makes it anew
      return false;
    }
  }
  log(log_level::debug, "other processes may tune the same: there is no file to lock");
  return true;
}

bool key_lock::open_next() {
  while (next_ < paths_.size()) {
    const std::filesystem::path path = paths_[next_++];
    try {
      file_descriptor file = open_in(path.parent_path().string(), path.filename().string());
      if (!file) continue;
      lock_ = std::make_shared<file_lock>(std::move(file));
      return true;
    } catch (const std::system_error& failure) {
      log(log_level::debug, "no lock '" + path.string() + "': " + failure.what());
    }
  }
  return false;
}

}  // namespace tune
