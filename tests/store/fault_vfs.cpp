// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/store/fault_vfs.hpp"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <sqlite3.h>
#include <stdexcept>
#include <system_error>

namespace tune::testing {
namespace {

fault_vfs* current = nullptr;
sqlite3_vfs* real = nullptr;
sqlite3_vfs shim{};
sqlite3_io_methods methods{};

/// The real file lies behind it in the same memory.
struct shim_file {
  sqlite3_file base;
  std::string* path;
};

std::string& path_of(sqlite3_file* file) { return *reinterpret_cast<shim_file*>(file)->path; }

sqlite3_file* real_of(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<shim_file*>(file) + 1);
}

/// The path of a file that may be named by the descriptor of its folder.
std::string plain_path(const char* path) {
  if (path == nullptr) return {};
  const std::filesystem::path given(path);
  std::error_code ignored;
  const auto folder = std::filesystem::canonical(given.parent_path(), ignored);
  return ignored ? given.string() : (folder / given.filename()).string();
}

int close_file(sqlite3_file* file) {
  sqlite3_file* behind = real_of(file);
  const int result = behind->pMethods->xClose(behind);
  delete reinterpret_cast<shim_file*>(file)->path;
  return result;
}

int read_file(sqlite3_file* file, void* bytes, int count, sqlite3_int64 offset) {
  if (const int code = current->check(file_operation::read)) return code;
  if (const int code = current->check(file_operation::short_read)) {
    std::memset(bytes, 0, static_cast<std::size_t>(count));
    return code;
  }
  sqlite3_file* behind = real_of(file);
  return behind->pMethods->xRead(behind, bytes, count, offset);
}

int write_file(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  if (const int code = current->check_change(file_operation::write)) return code;
  if (current->forgets(path_of(file))) return SQLITE_OK;
  current->note_write(path_of(file), offset, bytes, count);
  sqlite3_file* behind = real_of(file);
  return behind->pMethods->xWrite(behind, bytes, count, offset);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  if (const int code = current->check_change(file_operation::truncate)) return code;
  current->note_truncation(path_of(file), size);
  sqlite3_file* behind = real_of(file);
  return behind->pMethods->xTruncate(behind, size);
}

int sync_file(sqlite3_file* file, int) {
  if (const int code = current->check_change(file_operation::sync)) return code;
  current->note_sync(path_of(file));
  return SQLITE_OK;  // the survivors are ours to tell, so the disk need not be troubled
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  if (const int code = current->check(file_operation::size)) return code;
  sqlite3_file* behind = real_of(file);
  return behind->pMethods->xFileSize(behind, size);
}

int lock_file(sqlite3_file* file, int level) {
  if (const int code = current->check(file_operation::lock)) return code;
  sqlite3_file* behind = real_of(file);
  return behind->pMethods->xLock(behind, level);
}

int unlock_file(sqlite3_file* file, int level) {
  sqlite3_file* behind = real_of(file);
  return behind->pMethods->xUnlock(behind, level);
}

int check_reserved(sqlite3_file* file, int* held) {
  sqlite3_file* behind = real_of(file);
  return behind->pMethods->xCheckReservedLock(behind, held);
}

int control_file(sqlite3_file* file, int operation, void* argument) {
  sqlite3_file* behind = real_of(file);
  return behind->pMethods->xFileControl(behind, operation, argument);
}

int sector_size(sqlite3_file* file) {
  sqlite3_file* behind = real_of(file);
  return behind->pMethods->xSectorSize(behind);
}

int characteristics(sqlite3_file* file) {
  sqlite3_file* behind = real_of(file);
  return behind->pMethods->xDeviceCharacteristics(behind);
}

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  if (const int code = current->check(file_operation::open)) return code;
  current->note_open((flags & (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) != 0);
  const int code = real->xOpen(real, path, real_of(file), flags, out_flags);
  if (code != SQLITE_OK) return code;
  reinterpret_cast<shim_file*>(file)->path = new std::string(plain_path(path));
  file->pMethods = &methods;
  return SQLITE_OK;
}

int remove_file(sqlite3_vfs*, const char* path, int sync_folder) {
  if (const int code = current->check_change(file_operation::remove)) return code;
  current->note_removal(plain_path(path));
  return real->xDelete(real, path, sync_folder);
}

int tell_time(sqlite3_vfs*, sqlite3_int64* milliseconds) {
  const int code = real->xCurrentTimeInt64(real, milliseconds);
  *milliseconds += current->clock_skew().count();
  return code;
}

void fill_methods() {
  methods = {.iVersion = 1,
             .xClose = close_file,
             .xRead = read_file,
             .xWrite = write_file,
             .xTruncate = truncate_file,
             .xSync = sync_file,
             .xFileSize = file_size,
             .xLock = lock_file,
             .xUnlock = unlock_file,
             .xCheckReservedLock = check_reserved,
             .xFileControl = control_file,
             .xSectorSize = sector_size,
             .xDeviceCharacteristics = characteristics,
             .xShmMap = nullptr,
             .xShmLock = nullptr,
             .xShmBarrier = nullptr,
             .xShmUnmap = nullptr,
             .xFetch = nullptr,
             .xUnfetch = nullptr};
}

}  // namespace

// All that is not about files is left to the real one, whose data it shares.
fault_vfs::fault_vfs() {
  if (current != nullptr) throw std::logic_error("one fault_vfs at a time");
  current = this;
  real = sqlite3_vfs_find(nullptr);
  fill_methods();
  shim = *real;
  shim.pNext = nullptr;
  shim.zName = "libtune-fault";
  shim.szOsFile = static_cast<int>(sizeof(shim_file)) + real->szOsFile;
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

void fault_vfs::inject(file_fault fault) {
  fault_ = fault;
  counts_ = {};
}

int fault_vfs::check(file_operation operation) {
  if (!has_power()) return SQLITE_IOERR;
  const int count = ++counts_[index(operation)];
  const bool hit = fault_.at != 0 && operation == fault_.operation &&
                   (count == fault_.at || (fault_.persistent && count > fault_.at));
  return hit ? fault_.code : SQLITE_OK;
}

int fault_vfs::check_change(file_operation operation) {
  ++changes_;
  if (power_left_ > 0) --power_left_;
  if (life_left_ > 0 && --life_left_ == 0) ::raise(SIGKILL);
  return check(operation);
}

bool fault_vfs::forgets(const std::string& path) const {
  return forgets_ && path.ends_with("-journal");
}

void fault_vfs::note_write(const std::string& path, std::int64_t offset, const void* bytes,
                           int count) {
  files_[path].pending.push_back(
      {offset, 0, std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(count))});
}

void fault_vfs::note_truncation(const std::string& path, std::int64_t size) {
  files_[path].pending.push_back({-1, size, {}});
}

namespace {

template <class Change>
void apply(std::string& content, const Change& made, std::size_t bytes) {
  if (made.offset < 0) {
    content.resize(static_cast<std::size_t>(made.size));
    return;
  }
  const auto offset = static_cast<std::size_t>(made.offset);
  if (content.size() < offset + bytes) content.resize(offset + bytes);
  content.replace(offset, bytes, made.bytes, 0, bytes);
}

}  // namespace

void fault_vfs::note_sync(const std::string& path) {
  if (lies_) return;
  history& file = files_[path];
  for (const change& made : file.pending) apply(file.synced, made, made.bytes.size());
  file.pending.clear();
  file.was_synced = true;
}

void fault_vfs::note_removal(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return;
  removed_[path] = std::move(found->second);
  files_.erase(found);
}

// A change that was not synced is kept, lost, or kept up to a sector.
void fault_vfs::write_survivors(const std::string& folder, loss lost, std::uint32_t seed) const {
  std::mt19937 random(seed);
  constexpr std::size_t sector = 512;
  std::map<std::string, history> left = files_;
  if (lost == loss::some_writes_and_removals) {
    for (const auto& [path, file] : removed_) {
      if (random() % 2 == 0) left.emplace(path, file);
    }
  }
  for (const auto& [path, file] : left) {
    if (lost != loss::nothing && !file.was_synced && random() % 2 == 0) continue;
    std::string content = file.synced;
    for (const change& made : file.pending) {
      const unsigned fate = lost == loss::nothing ? 2 : random() % 4;
      if (fate == 0) continue;
      const std::size_t sectors = made.bytes.size() / sector;
      const bool torn = fate == 1 && sectors > 1;
      apply(content, made, torn ? sector * (random() % sectors) : made.bytes.size());
    }
    const std::string name = std::filesystem::path(path).filename().string();
    std::ofstream(folder + "/" + name, std::ios::binary) << content;
  }
}

}  // namespace tune::testing
