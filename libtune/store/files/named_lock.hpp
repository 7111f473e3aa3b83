// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/store/files/file_lock.hpp"

namespace tune::detail {

/// A file whose bytes can be locked one by one, for the whole process. Thread-safe.
///
/// These are the POSIX locks of fcntl(F_SETLK). A process that a candidate forks does not inherit
/// them, whereas a lock of flock() or F_OFD_SETLK belongs to an open file, which a child shares and
/// keeps even if its parent is killed. The system reports the holder of a lock, and releases locks
/// whenever the process ends.
///
/// A weakness: when a process closes any descriptor of a file, the system drops all its locks in
/// that file. So a process opens the file once, and closes it only when the file has lost its name:
/// a second copy of libtune in the process may have locks in it.
class byte_locks {
 public:
  /// Returns the file at a path: the one that this process has open, else the result of open.
  /// @param open  opens or creates it for reading and writing; an empty descriptor if it cannot
  /// @returns null if it cannot be opened or is not a regular file. Passes on exceptions of open.
  static std::shared_ptr<byte_locks> open(const std::string& path,
                                          const std::function<file_descriptor()>& open);

  explicit byte_locks(file_descriptor file) noexcept;
  ~byte_locks();
  byte_locks(const byte_locks&) = delete;
  byte_locks& operator=(const byte_locks&) = delete;

  /// Does not wait. @param kind  shared: shared within this process, exclusive against all others
  lock_attempt try_take(std::uint64_t byte, lock_kind kind) noexcept;
  /// Call it once for each successful try_take.
  void release(std::uint64_t byte) noexcept;
  /// Returns the process that holds it, this one included; 0 for a process of another container.
  /// Empty if it is free, or the system does not report the holder.
  std::optional<::pid_t> holder(std::uint64_t byte) noexcept;

  /// For reading and writing the content of the file; owned by this object.
  int descriptor() const noexcept { return file_.get(); }

 private:
  using identity = std::pair<::dev_t, ::ino_t>;

  static std::optional<identity> identity_of(int file) noexcept;
  bool is_open() const noexcept { return id_ && identity_of(file_.get()) == id_; }
  bool is_removed() const noexcept;

  file_descriptor file_;
  std::optional<identity> id_;
  std::map<std::uint64_t, int> held_;  // the number of times
};

}  // namespace tune::detail

namespace tune {

/// A right that one process at a time has: the lock of a byte of a file, in the first of several
/// places where a file can be locked. Without one there is no exclusion. A forked process
/// does not inherit the right (detail::byte_locks). An object is used by one thread.
class [[nodiscard]] named_lock {
 public:
  named_lock(const named_lock&) = delete;
  named_lock& operator=(const named_lock&) = delete;

  /// Waits while another process has the lock. @param look  called meanwhile; may use holder
  /// @returns false if the other still had it at the end
  bool take(std::chrono::milliseconds wait, const wait_look& look = {});

  /// Returns the present holder of the lock, if the system reports it.
  std::optional<::pid_t> holder() const noexcept;

 protected:
  /// The rules of one kind of lock.
  struct policy {
    /// Opens or creates the file at a path; empty if it cannot.
    detail::file_descriptor (*open)(const std::string& path);
    detail::lock_kind within_process;
    const char* consequence;  ///< logged if no file can be locked
  };

  /// Takes no lock yet. @param paths  of the file, the first choice first
  named_lock(const policy& rules, std::vector<std::string> paths, std::uint64_t byte)
      : rules_(rules), paths_(std::move(paths)), byte_(byte) {}
  ~named_lock();

  /// The path of the file, after an attempt to take the lock; empty if there is no file.
  std::string path() const { return file_ ? paths_[place_] : std::string(); }

 private:
  bool try_take();
  bool open_file();

  policy rules_;
  std::vector<std::string> paths_;
  std::size_t place_ = 0;  // into paths_
  std::uint64_t byte_;
  std::shared_ptr<detail::byte_locks> file_;
  bool is_taken_ = false;
};

/// The right to tune a key, among all processes that use one database. The threads of a process
/// share it, and exclude each other by other means.
///
/// It is the lock of one byte of a file, selected by 62 bits of a hash of the key, so that
/// different keys have different bytes.
class [[nodiscard]] key_lock : public named_lock {
 public:
  /// Takes no lock yet. @param database  the absolute path @param key  any text
  key_lock(const std::string& database, std::string_view key);

  /// The folder of the file, after an attempt to take the lock; empty if there is no file.
  std::string folder() const;

  /// Returns the process with the right to tune a key now, if the system reports it. Takes no lock
  /// and creates no file. @param database  the absolute path
  static std::optional<::pid_t> find_holder(const std::string& database, std::string_view key);

  /// Selects the byte. @param name  the database, a new line, and the key
  static std::uint64_t hash(std::string_view name);

  /// The folders in which the file may be, the first choice first: one beside the database, then
  /// one of the user's, for databases in folders that cannot be written or locked.
  static std::vector<std::string> folders(const std::string& database);
  /// The name of the file in its folder.
  static constexpr const char* file_name = "keys";
};

/// The right to measure on a device, among the processes of all users of this machine that see the
/// same /dev/shm or /tmp. Two objects in one process exclude each other, too.
///
/// It is the lock of an empty file that everybody may open. The first process creates it, and no
/// process removes it.
class [[nodiscard]] device_lock : public named_lock {
 public:
  /// Takes no lock yet.
  /// @param device   identifies the piece of hardware; any text
  /// @param folders  absolute paths, the first choice first
  explicit device_lock(std::string_view device,
                       const std::vector<std::string>& folders = shared_folders());

  /// Folders in which every user can create files, independent of the environment.
  static std::vector<std::string> shared_folders();
  /// The name of a device's file in its folder.
  static std::string file_name(std::string_view device);
};

/// Announces that a thread which holds the locks of some keys waits for another key, to all threads
/// and processes with the same locks. So a deadlock is detected, and one of its threads continues
/// without the lock. An object is used by one thread.
///
/// The marks are records of 16 bytes in a file beside the file of the keys, each with the hashes of
/// a held key and of the wanted key. A record counts only while its byte is locked, so that records
/// of killed processes are ignored.
class [[nodiscard]] wait_mark {
 public:
  /// @param folder  of the lock files; empty: only threads of this process
  /// @param had     the held keys, by key_lock::hash
  /// @param wanted  the awaited key, by key_lock::hash
  wait_mark(const std::string& folder, std::vector<std::uint64_t> had, std::uint64_t wanted);
  ~wait_mark();
  wait_mark(const wait_mark&) = delete;
  wait_mark& operator=(const wait_mark&) = delete;

  /// True if the holder of the wanted key waits, directly or indirectly, for one of the held keys,
  /// and of all threads in this circle this one is to continue.
  bool has_to_give_way() const;

  static constexpr const char* file_name = "waits";

 private:
  using edge = std::pair<std::uint64_t, std::uint64_t>;  // a held key, and the wanted one

  void put(const edge& record);
  std::vector<edge> edges() const;

  std::vector<std::uint64_t> had_;
  std::uint64_t wanted_;
  std::shared_ptr<detail::byte_locks> file_;  // null: the records of this process
  std::vector<std::uint64_t> slots_;
};

}  // namespace tune
