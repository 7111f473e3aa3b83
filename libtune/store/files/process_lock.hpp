// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/store/files/file_lock.hpp"

namespace tune::detail {

/// A file whose bytes are locked, one by one, for this process as a whole. Thread-safe.
///
/// These are the POSIX locks of fcntl(F_SETLK), for what no other kind of the system's has: what a
/// candidate forks does not have them and cannot keep them, whereas one of flock() or F_OFD_SETLK
/// is that of an open file, which a child shares and keeps though its parent is killed; and the
/// system tells which process has one. It releases them however the process ends.
///
/// Their flaw is that the system drops all locks of a process in a file when the process closes any
/// descriptor of that file. So a process opens the file once, and closes it only when the file has
/// lost its name: a second copy of libtune in the process may have locks in it.
class lock_file {
 public:
  /// The file at a path: the one that this process has open, else what open returns.
  /// @param open  opens or makes it for reading and writing; an empty descriptor if it cannot
  /// @returns null if it cannot be opened or is no regular file. Throws what open throws.
  static std::shared_ptr<lock_file> open(const std::string& path,
                                         const std::function<file_descriptor()>& open);

  explicit lock_file(file_descriptor file) noexcept;
  ~lock_file();
  lock_file(const lock_file&) = delete;
  lock_file& operator=(const lock_file&) = delete;

  /// Does not wait. @param shared  whether to share it with others of this process
  lock_attempt try_take(std::uint64_t byte, bool shared) noexcept;
  /// For each time that it was taken.
  void release(std::uint64_t byte) noexcept;
  /// The process that has it, this one included; 0 if that is one of another container. Empty if
  /// none has it, or the system does not tell.
  std::optional<::pid_t> holder(std::uint64_t byte) noexcept;

  /// For tests, with accept_fork: forgets what the parent has.
  static void forget_all() noexcept;

  /// For reading and writing what the file holds; stays this object's.
  int descriptor() const noexcept { return file_.get(); }

 private:
  using identity = std::pair<::dev_t, ::ino_t>;

  static std::optional<identity> identity_of(int file) noexcept;
  bool is_open() const noexcept { return id_ && identity_of(file_.get()) == id_; }
  bool is_removed() const noexcept;

  file_descriptor file_;
  std::optional<identity> id_;
  std::map<std::uint64_t, int> held_;  // how many times
};

/// One byte of a lock_file, released at the end of its life. Not thread-safe.
class [[nodiscard]] process_lock {
 public:
  process_lock() noexcept = default;
  process_lock(std::shared_ptr<lock_file> file, std::uint64_t byte) noexcept
      : file_(std::move(file)), byte_(byte) {}
  process_lock(process_lock&& other) noexcept
      : file_(std::move(other.file_)),
        byte_(other.byte_),
        is_taken_(std::exchange(other.is_taken_, false)) {}
  process_lock& operator=(process_lock&& other) noexcept;
  ~process_lock() { release(); }

  explicit operator bool() const noexcept { return file_ != nullptr; }

  lock_attempt try_take(bool shared) noexcept;
  void release() noexcept;
  std::optional<::pid_t> holder() const noexcept {
    return file_ ? file_->holder(byte_) : std::nullopt;
  }

 private:
  std::shared_ptr<lock_file> file_;
  std::uint64_t byte_ = 0;
  bool is_taken_ = false;
};

}  // namespace tune::detail
