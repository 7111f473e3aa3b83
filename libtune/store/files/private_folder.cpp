// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/private_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/random.h>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/base/signals.hpp"

namespace tune::detail {
namespace {

namespace fs = std::filesystem;

constexpr ::mode_t owner_only = S_IRUSR | S_IWUSR;
// O_NONBLOCK, because opening a pipe at this path would wait for ever.
constexpr int common_flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

[[noreturn]] void throw_last_error(const std::string& attempt) {
  throw std::system_error(errno, std::generic_category(), attempt);
}

[[noreturn]] void throw_not_private(const std::string& what) {
  throw std::system_error(std::make_error_code(std::errc::operation_not_permitted), what);
}

struct stat status_of(const file_descriptor& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_last_error("fstat");
  return status;
}

void check_private(const struct stat& status, const std::string& name) {
  const std::string reason = distrust(status, {});
  if (!reason.empty()) throw_not_private(name + ' ' + reason);
}

file_time time_of(const struct stat& status) noexcept {
  constexpr file_time nanoseconds_per_second = 1'000'000'000;
  return file_time{status.st_mtim.tv_sec} * nanoseconds_per_second + status.st_mtim.tv_nsec;
}

// With "/" or "/." after a name, the system would follow a symbolic link of that name.
std::string ending_in_a_name(std::string path) {
  while (path.size() > 1 && (path.ends_with('/') || path.ends_with("/."))) path.pop_back();
  return path;
}

constexpr std::string_view temporary_suffix = ".tmp";
constexpr std::size_t random_bytes = 16;

// Random, because process numbers repeat between machines and containers that share a folder.
std::string random_name() {
  std::array<std::byte, random_bytes> random{};
  if (::getrandom(random.data(), random.size(), 0) != ssize_t{random.size()}) {
    throw_last_error("getrandom");
  }
  return to_hex(random) + std::string(temporary_suffix);
}

struct close_directory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

std::string distrust(const struct stat& status, const trust_policy& policy) {
  const bool is_sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & S_IWOTH) != 0 && !(policy.sticky_folder && is_sticky)) {
    return "may be written by everybody";
  }
  if ((status.st_mode & S_IWGRP) != 0 && !policy.group) return "may be written by its group";
  const bool is_trusted =
      policy.anybody || status.st_uid == ::geteuid() || (policy.superuser && status.st_uid == 0);
  return is_trusted ? std::string() : "belongs to another user";
}

std::error_code create_private_folders(const std::string& path) {
  fs::path reached;
  for (const fs::path& part : fs::path(path)) {
    reached /= part;
    if (::mkdir(reached.c_str(), S_IRWXU) == 0) {
      // The umask may exclude even the owner.
      ::chmod(reached.c_str(), S_IRWXU);
      continue;
    }
    if (errno == EEXIST) continue;
    const std::error_code reason(errno, std::generic_category());
    std::error_code ignored;
    if (!fs::is_directory(reached, ignored)) return reason;
  }
  return {};
}

std::optional<private_folder> private_folder::open(const std::string& path) {
  const std::string folder = ending_in_a_name(path);
  file_descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | common_flags));
  if (!opened) {
    if (errno == ENOENT) return std::nullopt;
    throw_last_error("opening the folder");
  }
  check_private(status_of(opened), "the folder");
  return private_folder(std::move(opened));
}

file_descriptor private_folder::open_file(const std::string& name) const {
  file_descriptor file(::openat(folder_.get(), name.c_str(), O_RDONLY | common_flags));
  if (!file) {
    if (errno == ENOENT) return file;
    throw_last_error("opening it");
  }
  const struct stat status = status_of(file);
  if (!S_ISREG(status.st_mode)) throw_not_private("it is not a regular file");
  check_private(status, "it");
  // Another name could be in a folder that others can write. Without any name it was just removed.
  if (status.st_nlink > 1) throw_not_private("it has several names");
  return file;
}

file_descriptor private_folder::create_file(const std::string& name) const {
  file_descriptor file(::openat(folder_.get(), name.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | common_flags, owner_only));
  if (!file) throw_last_error("making a file");
  // The umask may exclude even the owner.
  if (::fchmod(file.get(), owner_only) != 0) throw_last_error("fchmod");
  return file;
}

file_descriptor private_folder::open_lock_file(const std::string& name) const {
  file_descriptor file(
      ::openat(folder_.get(), name.c_str(), O_RDWR | O_CREAT | common_flags, owner_only));
  if (!file) throw_last_error("opening the lock file");
  if (!S_ISREG(status_of(file).st_mode)) throw_not_private("the lock file is no regular one");
  return file;
}

void private_folder::rename_file(const std::string& from, const std::string& to) const {
  if (::renameat(folder_.get(), from.c_str(), folder_.get(), to.c_str()) != 0) {
    throw_last_error("renaming a file");
  }
}

void private_folder::remove_file(const std::string& name) const {
  if (::unlinkat(folder_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    throw_last_error("removing a file");
  }
}

std::vector<listed_file> private_folder::list_files() const {
  // Opened again, because a duplicate would share its position with other threads.
  file_descriptor anew(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, close_directory> directory(::fdopendir(anew.get()));
  if (directory == nullptr) throw_last_error("listing the folder");
  anew.release();
  std::vector<listed_file> files;
  while (const dirent* entry = ::readdir(directory.get())) {
    struct stat status {};
    const bool there = ::fstatat(folder_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there || !S_ISREG(status.st_mode)) continue;
    files.push_back({entry->d_name, static_cast<std::uint64_t>(status.st_size), time_of(status)});
  }
  return files;
}

void private_folder::synchronise() const {
  if (::fsync(folder_.get()) != 0) throw_last_error("fsync of the folder");
}

file_time last_use(const file_descriptor& file) { return time_of(status_of(file)); }

file_time current_time() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::vector<std::string> least_recently_used(std::vector<listed_file> files,
                                             std::uint64_t allowed_bytes, file_time now) {
  std::uint64_t total = 0;
  for (const listed_file& file : files) total += file.bytes;
  std::vector<std::string> names;
  if (total <= allowed_bytes) return names;
  // The clocks of machines that share a folder may differ by minutes.
  constexpr file_time one_hour = 3'600'000'000'000;
  const auto order_of = [&](const listed_file& file) {
    return std::tuple<bool, file_time, const std::string&>(file.used <= now + one_hour, file.used,
                                                           file.name);
  };
  std::ranges::sort(files, std::ranges::less{}, order_of);
  for (listed_file& file : files) {
    if (total <= allowed_bytes) break;
    total -= file.bytes;
    names.push_back(std::move(file.name));
  }
  return names;
}

temporary_file::temporary_file(const private_folder& folder)
    : folder_(folder), name_(random_name()), file_(folder.create_file(name_)) {}

temporary_file::~temporary_file() {
  if (name_.empty()) return;
  try {
    folder_.remove_file(name_);
  } catch (const std::system_error& failure) {
    log(log_level::debug, "a temporary file stays behind: " + std::string(failure.what()));
  }
}

void temporary_file::write(std::span<const std::byte> bytes) {
  const without_size_signal quiet;
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_last_error("writing a file");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void temporary_file::synchronise() {
  if (::fsync(file_.get()) != 0) throw_last_error("fsync of a file");
}

void temporary_file::publish(const std::string& name) {
  folder_.rename_file(name_, name);
  name_.clear();
}

bool is_temporary_name(std::string_view name) noexcept {
  constexpr std::size_t digits = 2 * random_bytes;
  return name.size() == digits + temporary_suffix.size() && name.ends_with(temporary_suffix) &&
         name.find_first_not_of("0123456789abcdef") == digits;
}

}  // namespace tune::detail
