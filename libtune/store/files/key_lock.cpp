// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/key_lock.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/store/files/private_folder.hpp"
#include "libtune/store/files/user_cache_folder.hpp"

namespace tune {
namespace {

using detail::file_descriptor;
using detail::lock_attempt;
using detail::lock_file;
using detail::private_folder;

/// @throws std::system_error, with what was attempted
file_descriptor open_in(const std::string& folder) {
  if (const std::error_code reason = detail::create_private_folders(folder)) {
    throw std::system_error(reason, "making the folder");
  }
  const auto opened = private_folder::open(folder);
  return opened ? opened->open_lock_file(key_lock::file_name) : file_descriptor();
}

}  // namespace

std::uint64_t key_lock::hash(std::string_view name) {
  const auto digest = detail::sha256(std::as_bytes(std::span(name)));
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    number = number << 8 | std::to_integer<std::uint64_t>(digest[i]);
  }
  return number;
}

std::vector<std::string> key_lock::folders(const std::string& database) {
  std::vector<std::string> found{database + ".locks"};
  const auto runtime = read_environment("XDG_RUNTIME_DIR");
  if (runtime && runtime->front() == '/') found.push_back(*runtime + "/libtune/locks");
  if (const auto cache = user_cache_folder()) found.push_back(*cache + "/locks");
  return found;
}

// The database is in the hash because the folders of a user serve many.
key_lock::key_lock(const std::string& database, std::string_view key)
    : hash_(hash(database + '\n' + std::string(key))) {
  for (const std::string& folder : folders(database)) paths_.push_back(folder + '/' + file_name);
}

bool key_lock::take(std::chrono::milliseconds wait, const wait_look& look) {
  return detail::keep_trying(
      wait, [&] { return try_take(); }, look);
}

std::string key_lock::folder() const {
  if (!lock_) return {};
  return std::filesystem::path(paths_[next_ - 1]).parent_path().string();
}

bool key_lock::try_take() {
  while (lock_ || open_next()) {
    const lock_attempt attempt = lock_.try_take(true);
    if (attempt == lock_attempt::taken) return true;
    if (attempt == lock_attempt::busy) return false;
    lock_ = {};
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
      auto file = lock_file::open(path.string(), [&] { return open_in(path.parent_path()); });
      if (!file) continue;
      lock_ = detail::process_lock(std::move(file), hash_);
      return true;
    } catch (const std::system_error& failure) {
      log(log_level::debug, "no lock '" + path.string() + "': " + failure.what());
    }
  }
  return false;
}

}  // namespace tune
