// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/device_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <span>
#include <sys/stat.h>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/base/sha256.hpp"

namespace tune {
namespace {

using detail::file_descriptor;
using detail::lock_attempt;

// A lock needs a file that is open for writing.
constexpr ::mode_t open_to_all = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
// O_NONBLOCK, because opening a pipe that somebody has put there would wait for ever.
constexpr int common_flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

std::string file_name_of(std::string_view device) {
  constexpr std::size_t enough = 8;
  const auto digest = detail::sha256(std::as_bytes(std::span(device)));
  return "libtune-device-" + detail::to_hex(std::span(digest).first(enough)) + ".turn";
}

// Opened without O_CREAT first: in a folder for all, the system may refuse that for a file that is
// another user's.
file_descriptor open_shared(const std::string& path) {
  constexpr int attempts = 3;  // against others who make or remove it just now
  for (int i = 0; i < attempts; ++i) {
    file_descriptor file(::open(path.c_str(), common_flags));
    if (file || errno != ENOENT) return file;
    file = file_descriptor(::open(path.c_str(), common_flags | O_CREAT | O_EXCL, open_to_all));
    // The process may have a mask that keeps others out.
    if (file && ::fchmod(file.get(), open_to_all) == 0) return file;
  }
  return file_descriptor();
}

}  // namespace

std::vector<std::string> device_lock::shared_folders() { return {"/dev/shm", "/tmp"}; }

device_lock::device_lock(std::string_view device, std::vector<std::string> folders)
    : name_(file_name_of(device)), folders_(std::move(folders)) {}

bool device_lock::take(std::chrono::milliseconds wait, const wait_look& look) {
  return detail::keep_trying(
      wait, [&] { return try_take(); }, look);
}

bool device_lock::try_take() {
  for (; place_ < folders_.size(); ++place_) {
    if (!lock_) {
      const std::string path = folders_[place_] + '/' + name_;
      auto file = detail::lock_file::open(path, [&] { return open_shared(path); });
      if (!file) continue;
      lock_ = detail::process_lock(std::move(file), 0);
    }
    const lock_attempt attempt = lock_.try_take(false);
    if (attempt == lock_attempt::taken) return true;
    if (attempt == lock_attempt::busy) return false;
    lock_ = {};
    if (attempt == lock_attempt::removed) return false;  // the next attempt makes it anew
  }
  log(log_level::debug, "other processes may measure on the same device: there is no file to lock");
  return true;
}

}  // namespace tune
