// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/process_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

#include "libtune/base/forked_process.hpp"

namespace tune::detail {
namespace {

// Never destroyed: threads may still tune while the process ends.
struct open_files {
  std::mutex mutex;
  std::map<std::pair<::dev_t, ::ino_t>, std::shared_ptr<lock_file>> all;
};

open_files& files() {
  static auto* const opened = new open_files;
  return *opened;
}

struct ::flock range_of(std::uint64_t byte, short type) noexcept {
  // The last two bits would be too many for the largest file that there can be.
  struct ::flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<::off_t>(byte >> 2);
  range.l_len = 1;
  return range;
}

}  // namespace

std::shared_ptr<lock_file> lock_file::open(const std::string& path,
                                           const std::function<file_descriptor()>& open) {
  watch_forks();
  const std::lock_guard guard(files().mutex);
  auto& all = files().all;
  std::erase_if(all, [](const auto& item) {
    lock_file& file = *item.second;
    // What has been closed behind our back may be another's file by now.
    if (!file.is_open()) file.file_.release();
    return !file.file_ || (file.held_.empty() && file.is_removed());
  });
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    const auto known = all.find({status.st_dev, status.st_ino});
    if (known != all.end()) return known->second;
  }
  file_descriptor file = open();
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  auto& entry = all[{status.st_dev, status.st_ino}];
  if (entry) {
    file.release();  // the path has become that of a file which is open: see the class
  } else {
    entry = std::make_shared<lock_file>(std::move(file));
  }
  return entry;
}

lock_file::lock_file(file_descriptor file) noexcept
    : file_(std::move(file)), id_(identity_of(file_.get())) {}

lock_file::~lock_file() {
  if (!is_open()) file_.release();
}

std::optional<lock_file::identity> lock_file::identity_of(int file) noexcept {
  struct stat status {};
  if (::fstat(file, &status) != 0) return std::nullopt;
  return identity(status.st_dev, status.st_ino);
}

bool lock_file::is_removed() const noexcept {
  struct stat status {};
  return ::fstat(file_.get(), &status) != 0 || status.st_nlink == 0;
}

lock_attempt lock_file::try_take(std::uint64_t byte, bool shared) noexcept {
  const std::lock_guard guard(files().mutex);
  if (!is_open() || is_removed()) return lock_attempt::removed;
  if (const auto known = held_.find(byte); known != held_.end()) {
    if (!shared) return lock_attempt::busy;
    ++known->second;
    return lock_attempt::taken;
  }
  const struct ::flock range = range_of(byte, F_WRLCK);
  if (::fcntl(file_.get(), F_SETLK, &range) != 0) {
    return errno == EACCES || errno == EAGAIN || errno == EINTR ? lock_attempt::busy
                                                                : lock_attempt::impossible;
  }
  held_[byte] = 1;
  if (!is_removed()) return lock_attempt::taken;
  held_.erase(byte);
  return lock_attempt::removed;
}

void lock_file::forget_all() noexcept {
  const std::lock_guard guard(files().mutex);
  for (const auto& [id, file] : files().all) file->held_.clear();
}

// A thread of the parent may have the mutex, for ever.
void lock_file::release(std::uint64_t byte) noexcept {
  if (is_forked()) return;
  const std::lock_guard guard(files().mutex);
  const auto known = held_.find(byte);
  if (known == held_.end() || --known->second > 0) return;
  held_.erase(known);
  const struct ::flock range = range_of(byte, F_UNLCK);
  if (is_open()) ::fcntl(file_.get(), F_SETLK, &range);
}

std::optional<::pid_t> lock_file::holder(std::uint64_t byte) noexcept {
  const std::lock_guard guard(files().mutex);
  if (held_.contains(byte)) return ::getpid();
  struct ::flock range = range_of(byte, F_WRLCK);
  if (!is_open() || ::fcntl(file_.get(), F_GETLK, &range) != 0) return std::nullopt;
  if (range.l_type == F_UNLCK) return std::nullopt;
  return range.l_pid;
}

process_lock& process_lock::operator=(process_lock&& other) noexcept {
  release();
  file_ = std::move(other.file_);
  byte_ = other.byte_;
  is_taken_ = std::exchange(other.is_taken_, false);
  return *this;
}

lock_attempt process_lock::try_take(bool shared) noexcept {
  if (!file_) return lock_attempt::impossible;
  if (is_taken_) return lock_attempt::taken;
  const lock_attempt attempt = file_->try_take(byte_, shared);
  is_taken_ = attempt == lock_attempt::taken;
  return attempt;
}

void process_lock::release() noexcept {
  if (std::exchange(is_taken_, false)) file_->release(byte_);
}

}  // namespace tune::detail
