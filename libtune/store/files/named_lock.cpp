// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/named_lock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <set>
#include <span>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/environment.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/store/files/file_system.hpp"
#include "libtune/store/files/private_folder.hpp"

namespace tune::detail {
namespace {

// Never destroyed: threads may still tune while the process ends.
struct open_files {
  std::mutex mutex;
  std::map<std::pair<::dev_t, ::ino_t>, std::shared_ptr<byte_locks>> all;
};

open_files& files() {
  static auto* const opened = new open_files;
  return *opened;
}

struct ::flock range_of(std::uint64_t byte, short type) noexcept {
  // With the last two bits, the offset would exceed the largest file size.
  struct ::flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<::off_t>(byte >> 2);
  range.l_len = 1;
  return range;
}

}  // namespace

std::shared_ptr<byte_locks> byte_locks::open(const std::string& path,
                                             const std::function<file_descriptor()>& open) {
  watch_forks();
  const std::lock_guard guard(files().mutex);
  auto& all = files().all;
  std::erase_if(all, [](const auto& item) {
    byte_locks& file = *item.second;
    // If other code has closed the descriptor, its number may belong to another file now.
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
    file.release();  // the path now leads to an already open file: see the class
  } else {
    entry = std::make_shared<byte_locks>(std::move(file));
  }
  return entry;
}

byte_locks::byte_locks(file_descriptor file) noexcept
    : file_(std::move(file)), id_(identity_of(file_.get())) {}

byte_locks::~byte_locks() {
  if (!is_open()) file_.release();
}

std::optional<byte_locks::identity> byte_locks::identity_of(int file) noexcept {
  struct stat status {};
  if (::fstat(file, &status) != 0) return std::nullopt;
  return identity(status.st_dev, status.st_ino);
}

bool byte_locks::is_removed() const noexcept {
  struct stat status {};
  return ::fstat(file_.get(), &status) != 0 || status.st_nlink == 0;
}

lock_attempt byte_locks::try_take(std::uint64_t byte, lock_kind kind) noexcept {
  const std::lock_guard guard(files().mutex);
  if (!is_open() || is_removed()) return lock_attempt::removed;
  if (const auto known = held_.find(byte); known != held_.end()) {
    if (kind == lock_kind::alone) return lock_attempt::busy;
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

// A thread of the parent may hold the mutex for ever.
void byte_locks::release(std::uint64_t byte) noexcept {
  if (is_forked()) return;
  const std::lock_guard guard(files().mutex);
  const auto known = held_.find(byte);
  if (known == held_.end() || --known->second > 0) return;
  held_.erase(known);
  const struct ::flock range = range_of(byte, F_UNLCK);
  if (is_open()) ::fcntl(file_.get(), F_SETLK, &range);
}

std::optional<::pid_t> byte_locks::holder(std::uint64_t byte) noexcept {
  const std::lock_guard guard(files().mutex);
  if (held_.contains(byte)) return ::getpid();
  struct ::flock range = range_of(byte, F_WRLCK);
  if (!is_open() || ::fcntl(file_.get(), F_GETLK, &range) != 0) return std::nullopt;
  if (range.l_type == F_UNLCK) return std::nullopt;
  return range.l_pid;
}

}  // namespace tune::detail

namespace tune {
namespace {

using detail::file_descriptor;
using detail::lock_attempt;
using detail::private_folder;

/// @throws std::system_error, with the failed step
file_descriptor open_private(const std::string& path) {
  const std::filesystem::path parts(path);
  if (const std::error_code reason = detail::create_private_folders(parts.parent_path())) {
    throw std::system_error(reason, "making the folder");
  }
  const auto folder = private_folder::open(parts.parent_path());
  return folder ? folder->open_lock_file(parts.filename()) : file_descriptor();
}

// Opened without O_CREAT first: in a folder for all, the system may refuse O_CREAT for a file of
// another user.
file_descriptor open_shared(const std::string& path) {
  // A lock needs a file that is open for writing.
  constexpr ::mode_t open_to_all = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  // O_NONBLOCK, because opening a pipe at this path would wait for ever.
  constexpr int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  constexpr int attempts = 3;  // others may be creating or removing it
  for (int i = 0; i < attempts; ++i) {
    file_descriptor file(::open(path.c_str(), flags));
    if (file || errno != ENOENT) return file;
    file = file_descriptor(::open(path.c_str(), flags | O_CREAT | O_EXCL, open_to_all));
    // The umask may exclude other users.
    if (file && ::fchmod(file.get(), open_to_all) == 0) return file;
  }
  return file_descriptor();
}

std::vector<std::string> paths_of(std::vector<std::string> folders, const std::string& name) {
  for (std::string& folder : folders) folder += '/' + name;
  return folders;
}

}  // namespace

named_lock::~named_lock() {
  if (is_taken_) file_->release(byte_);
}

bool named_lock::take(std::chrono::milliseconds wait, const wait_look& look) {
  return detail::keep_trying(
      wait, [&] { return try_take(); }, look);
}

std::optional<::pid_t> named_lock::holder() const noexcept {
  return file_ ? file_->holder(byte_) : std::nullopt;
}

bool named_lock::try_take() {
  if (is_taken_) return true;
  for (; place_ < paths_.size(); ++place_) {
    if (!file_ && !open_file()) continue;
    const lock_attempt attempt = file_->try_take(byte_, rules_.within_process);
    is_taken_ = attempt == lock_attempt::taken;
    if (is_taken_) return true;
    if (attempt == lock_attempt::busy) return false;
    file_ = nullptr;
    if (attempt == lock_attempt::removed) return false;  // the next attempt creates it again
  }
  log(log_level::debug, std::string(rules_.consequence) + ": there is no file to lock");
  return true;
}

bool named_lock::open_file() {
  const std::string& path = paths_[place_];
  try {
    file_ = detail::byte_locks::open(path, [&] { return rules_.open(path); });
  } catch (const std::system_error& failure) {
    log(log_level::debug, "no lock '" + path + "': " + failure.what());
  }
  return file_ != nullptr;
}

// The hash includes the database, because a user's folder is for several databases.
key_lock::key_lock(const std::string& database, std::string_view key)
    : named_lock({.open = open_private,
                  .within_process = detail::lock_kind::shared,
                  .consequence = "other processes may tune the same"},
                 paths_of(folders(database), file_name), hash(database + '\n' + std::string(key))) {
}

std::string key_lock::folder() const { return std::filesystem::path(path()).parent_path(); }

// Also opened for writing, because a later lock of this process uses the same descriptor.
std::optional<::pid_t> key_lock::find_holder(const std::string& database, std::string_view key) {
  const std::uint64_t byte = hash(database + '\n' + std::string(key));
  for (const std::string& path : paths_of(folders(database), file_name)) {
    const auto file = detail::byte_locks::open(path, [&] {
      return file_descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    });
    if (!file) continue;
    if (const auto found = file->holder(byte)) return found;
  }
  return std::nullopt;
}

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

device_lock::device_lock(std::string_view device, const std::vector<std::string>& folders)
    : named_lock({.open = open_shared,
                  .within_process = detail::lock_kind::alone,
                  .consequence = "other processes may measure on the same device"},
                 paths_of(folders, file_name(device)), 0) {}

std::vector<std::string> device_lock::shared_folders() { return {"/dev/shm", "/tmp"}; }

std::string device_lock::file_name(std::string_view device) {
  constexpr std::size_t enough = 8;
  const auto digest = detail::sha256(std::as_bytes(std::span(device)));
  return "libtune-device-" + detail::to_hex(std::span(digest).first(enough)) + ".turn";
}

namespace {

using detail::byte_locks;
using detail::lock_attempt;
using detail::private_folder;
using raw_record = std::array<std::uint64_t, 2>;

// The largest number of threads that can wait for keys inside of tunings at the same time; further
// ones only end their wait by the time limit.
constexpr std::uint64_t most_slots = 4096;

// In the file of marks, each slot has its own byte.
std::uint64_t byte_of(std::uint64_t slot) noexcept { return slot << 2; }

::off_t place_of(std::uint64_t slot) noexcept {
  return static_cast<::off_t>(slot * sizeof(raw_record));
}

/// The marks of this process, used without a file of marks. Never destroyed: threads may still tune
/// while the process ends.
struct own_marks {
  std::mutex mutex;
  std::multiset<std::pair<std::uint64_t, std::uint64_t>> all;
};

own_marks& marks_here() {
  static auto* const marks = new own_marks;
  return *marks;
}

std::shared_ptr<byte_locks> open_file(const std::string& folder) {
  if (folder.empty()) return nullptr;
  try {
    return byte_locks::open(folder + '/' + wait_mark::file_name, [&] {
      const auto opened = private_folder::open(folder);
      return opened ? opened->open_lock_file(wait_mark::file_name) : detail::file_descriptor();
    });
  } catch (const std::system_error&) {
    return nullptr;
  }
}

}  // namespace

wait_mark::wait_mark(const std::string& folder, std::vector<std::uint64_t> had,
                     std::uint64_t wanted)
    : had_(std::move(had)), wanted_(wanted), file_(open_file(folder)) {
  for (const std::uint64_t key : had_) put({key, wanted_});
}

wait_mark::~wait_mark() {
  if (detail::is_forked()) return;
  if (!file_) {
    const std::lock_guard lock(marks_here().mutex);
    for (const std::uint64_t key : had_) {
      const auto found = marks_here().all.find({key, wanted_});
      if (found != marks_here().all.end()) marks_here().all.erase(found);
    }
  }
  for (const std::uint64_t slot : slots_) {
    const raw_record nothing{};
    // If this fails, the mark is ignored all the same, because its slot is not locked.
    [[maybe_unused]] const ::ssize_t written =
        ::pwrite(file_->descriptor(), nothing.data(), sizeof nothing, place_of(slot));
    file_->release(byte_of(slot));
  }
}

void wait_mark::put(const edge& record) {
  if (!file_) {
    const std::lock_guard lock(marks_here().mutex);
    marks_here().all.insert(record);
    return;
  }
  for (std::uint64_t slot = 0; slot < most_slots; ++slot) {
    const lock_attempt attempt = file_->try_take(byte_of(slot), detail::lock_kind::alone);
    if (attempt == lock_attempt::busy) continue;
    if (attempt != lock_attempt::taken) return;
    slots_.push_back(slot);
    const raw_record raw{record.first, record.second};
    // If this fails, a circle of waits is not detected, and ends by LIBTUNE_WAIT.
    [[maybe_unused]] const ::ssize_t written =
        ::pwrite(file_->descriptor(), raw.data(), sizeof raw, place_of(slot));
    return;
  }
}

std::vector<wait_mark::edge> wait_mark::edges() const {
  if (!file_) {
    const std::lock_guard lock(marks_here().mutex);
    return {marks_here().all.begin(), marks_here().all.end()};
  }
  std::vector<edge> found;
  raw_record raw{};
  for (std::uint64_t slot = 0; slot < most_slots; ++slot) {
    const auto bytes = ::pread(file_->descriptor(), raw.data(), sizeof raw, place_of(slot));
    if (bytes != static_cast<::ssize_t>(sizeof raw)) break;
    if (raw != raw_record{} && file_->holder(byte_of(slot))) found.emplace_back(raw[0], raw[1]);
  }
  return found;
}

// All threads in a circle see the same wanted keys, so they agree that the one with the smallest
// wanted key continues.
bool wait_mark::has_to_give_way() const {
  const std::vector<edge> all = edges();
  std::set<std::uint64_t> wanted;
  std::uint64_t key = wanted_;
  while (wanted.insert(key).second) {
    if (std::ranges::find(had_, key) != had_.end()) return *wanted.begin() == wanted_;
    const auto next = std::ranges::find(all, key, &edge::first);
    if (next == all.end()) return false;
    key = next->second;
  }
  return false;
}

}  // namespace tune
