// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/store/fault_vfs.hpp"

#include <csignal>
#include <map>
#include <sqlite3.h>
#include <stdexcept>

namespace tune::testing {
namespace {

fault_vfs* current = nullptr;
sqlite3_vfs* real = nullptr;
sqlite3_vfs shim{};

/// The functions of a file, some of them ours. SQLite's own are called with the file as it is.
struct shim_methods {
  sqlite3_io_methods own;
  const sqlite3_io_methods* real;
};

const sqlite3_io_methods& real_methods(sqlite3_file* file) {
  return *reinterpret_cast<const shim_methods*>(file->pMethods)->real;
}

int write_file(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  if (const int code = current->note_change()) return code;
  return real_methods(file).xWrite(file, bytes, count, offset);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  if (const int code = current->note_change()) return code;
  return real_methods(file).xTruncate(file, size);
}

// No test cuts the power, so the disk need not be troubled.
int sync_file(sqlite3_file*, int) { return current->note_change(); }

/// Kept for ever: SQLite has a few such tables, and they are constants.
const sqlite3_io_methods* with_ours(const sqlite3_io_methods* methods) {
  static std::map<const sqlite3_io_methods*, shim_methods> made;
  const auto [place, is_new] = made.try_emplace(methods, shim_methods{*methods, methods});
  sqlite3_io_methods& own = place->second.own;
  own.xWrite = write_file;
  own.xTruncate = truncate_file;
  own.xSync = sync_file;
  return &own;
}

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  current->note_open((flags & (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) != 0);
  const int code = real->xOpen(real, path, file, flags, out_flags);
  if (file->pMethods != nullptr) file->pMethods = with_ours(file->pMethods);
  return code;
}

int remove_file(sqlite3_vfs*, const char* path, int sync_folder) {
  if (const int code = current->note_change()) return code;
  return real->xDelete(real, path, sync_folder);
}

int tell_time(sqlite3_vfs*, sqlite3_int64* milliseconds) {
  const int code = real->xCurrentTimeInt64(real, milliseconds);
  *milliseconds += current->clock_skew().count();
  return code;
}

}  // namespace

// All else is left to the real one, whose data it shares.
fault_vfs::fault_vfs() {
  if (current != nullptr) throw std::logic_error("one fault_vfs at a time");
  current = this;
  real = sqlite3_vfs_find(nullptr);
  shim = *real;
  shim.pNext = nullptr;
  shim.zName = "libtune-fault";
  shim.xOpen = open_file;
  shim.xDelete = remove_file;
  shim.xCurrentTimeInt64 = tell_time;
  sqlite3_vfs_register(&shim, 1);
}

fault_vfs::~fault_vfs() {
  sqlite3_vfs_unregister(&shim);
  sqlite3_vfs_register(real, 1);
  current = nullptr;
}

void fault_vfs::fail_at(int change, int code, int count) {
  first_failure_ = changes_ + change;
  failures_ = count;
  code_ = code;
}

void fault_vfs::kill_at(int change) { killed_at_ = changes_ + change; }

int fault_vfs::note_change() {
  ++changes_;
  if (changes_ == killed_at_) ::raise(SIGKILL);
  const int since = changes_ - first_failure_;
  return since >= 0 && since < failures_ ? code_ : SQLITE_OK;
}

}  // namespace tune::testing
