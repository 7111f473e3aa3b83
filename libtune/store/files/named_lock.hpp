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

/// A file whose bytes are locked, one by one, for this process as a whole. Thread-safe.
///
/// These are the POSIX locks of fcntl(F_SETLK). A process that a candidate forks does not have them
/// and cannot keep them, whereas a lock of flock() or F_OFD_SETLK belongs to an open file, which a
/// child shares and keeps though its parent is killed; and the system reports which process has
/// one. It releases them however the process ends.
///
/// Their flaw is that the system drops all locks of a process in a file when the process closes any
/// descriptor of that file. So a process opens the file once, and closes it only when the file has
/// lost its name: a second copy of libtune in the process may have locks in it.
class byte_locks {
 public:
  /// The file at a path: the one that this process has open, else the result of open.
  /// @param open  opens or makes it for reading and writing; an empty descriptor if it cannot
  /// @returns null if it cannot be opened or is no regular file. Throws what open throws.
  static std::shared_ptr<byte_locks> open(const std::string& path,
                                          const std::function<file_descriptor()>& open);

  explicit byte_locks(file_descriptor file) noexcept;
  ~byte_locks();
  byte_locks(const byte_locks&) = delete;
  byte_locks& operator=(const byte_locks&) = delete;

  /// Does not wait. @param kind  shared: with others of this process, which keeps all others out
  lock_attempt try_take(std::uint64_t byte, lock_kind kind) noexcept;
  /// Once for each time that it was taken.
  void release(std::uint64_t byte) noexcept;
  /// The process that has it, this one included; 0 for one of another container. Empty if none has
  /// it, or the system does not report it.
  std::optional<::pid_t> holder(std::uint64_t byte) noexcept;

  /// For reading and writing the content of the file; stays this object's.
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

}  // namespace tune::detail

namespace tune {

/// A right that one process at a time has: the lock of a byte of a file, in the first of several
/// places where a file can be locked. Where there is none nobody is kept out. A process that this
/// one forks does not have the right (detail::byte_locks). One thread uses an object.
class [[nodiscard]] named_lock {
 public:
  named_lock(const named_lock&) = delete;
  named_lock& operator=(const named_lock&) = delete;

  /// Waits while another has the lock. @param look  called meanwhile; may use holder
  /// @returns false if it still had it in the end
  bool take(std::chrono::milliseconds wait, const wait_look& look = {});

  /// The process that has the lock now, as far as the system reports it.
  std::optional<::pid_t> holder() const noexcept;

 protected:
  /// The rules of one kind of lock.
  struct policy {
    /// Opens or makes the file at a path; empty if it cannot.
    detail::file_descriptor (*open)(const std::string& path);
    detail::lock_kind within_process;
    const char* consequence;  ///< logged where no file can be locked
  };

  /// Takes nothing yet. @param paths  of the file, the first choice first
  named_lock(const policy& rules, std::vector<std::string> paths, std::uint64_t byte)
      : rules_(rules), paths_(std::move(paths)), byte_(byte) {}
  ~named_lock();

  /// The path of the file, after an attempt to take the lock; empty if there is none.
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
/// share it, and agree among themselves in another way.
///
/// It is the lock of one byte of a file, selected by 62 bits of a hash of the key: two keys do not
/// share one.
class [[nodiscard]] key_lock : public named_lock {
 public:
  /// Takes nothing yet. @param database  the absolute path @param key  any text
  key_lock(const std::string& database, std::string_view key);

  /// The folder of the file, after an attempt to take the lock; empty if there is none.
  std::string folder() const;

  /// The process that has the right to tune a key now, as far as the system reports it. Takes and
  /// makes nothing. @param database  the absolute path
  static std::optional<::pid_t> find_holder(const std::string& database, std::string_view key);

  /// Selects the byte. @param name  the database, a new line, and the key
  static std::uint64_t hash(std::string_view name);

  /// The folders in which the file may be, the first choice first: one beside the database,
  /// then one of the user's for databases in folders that cannot be written or locked.
  static std::vector<std::string> folders(const std::string& database);
  /// The name of the file in its folder.
  static constexpr const char* file_name = "keys";
};

/// The right to measure on a device, among the processes of all users of this machine that see
/// the same /dev/shm or /tmp. Two objects exclude each other also in one process.
///
/// It is the lock of an empty file that everybody may open. The first process makes it, and nobody
/// removes it.
class [[nodiscard]] device_lock : public named_lock {
 public:
  /// Takes nothing yet.
  /// @param device   identifies the piece of hardware; any text
  /// @param folders  absolute paths, the first choice first
  explicit device_lock(std::string_view device,
                       const std::vector<std::string>& folders = shared_folders());

  /// Folders in which every user can make files, whatever the environment says.
  static std::vector<std::string> shared_folders();
  /// The name of a device's file in its folder.
  static std::string file_name(std::string_view device);
};

/// Announces that a thread which holds the locks of some keys waits for that of another, to all
/// threads and processes that use the same locks. So a deadlock is detected, and one of its threads
/// goes on without the lock. One thread uses an object.
///
/// The marks are records of 16 bytes in a file beside that of the keys, each with the hashes of a
/// key that is held and the key that is wanted. A record counts while its byte is locked, so that
/// the records of a killed process mean nothing.
class [[nodiscard]] wait_mark {
 public:
  /// @param folder  of the lock files; empty: threads of this process alone
  /// @param had     the keys that are held, by key_lock::hash
  /// @param wanted  the key that is waited for, by key_lock::hash
  wait_mark(const std::string& folder, std::vector<std::uint64_t> had, std::uint64_t wanted);
  ~wait_mark();
  wait_mark(const wait_mark&) = delete;
  wait_mark& operator=(const wait_mark&) = delete;

  /// True if the holder of the wanted key waits, directly or through others, for one of the keys
  /// that are held, and of all threads in this circle this one is to go on.
  bool has_to_give_way() const;

  static constexpr const char* file_name = "waits";

 private:
  using edge =
      std::pair<std::uint64_t, std::uint64_t>;  // a key that is held, and the one that is wanted

  void put(const edge& record);
  std::vector<edge> edges() const;

  std::vector<std::uint64_t> had_;
  std::uint64_t wanted_;
  std::shared_ptr<detail::byte_locks> file_;  // null: the records are those of this process
  std::vector<std::uint64_t> slots_;
};

}  // namespace tune
