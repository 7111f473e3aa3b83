// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/plain_name_vfs.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <sqlite3.h>
#include <string>

namespace tune::detail {
namespace {

struct plain_vfs {
  sqlite3_vfs vfs{};
  std::string name;
};

int keep_name(sqlite3_vfs*, const char* name, int size, char* kept) {
  const std::size_t length = std::strlen(name);
  if (length >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN_FULLPATH;
  std::memcpy(kept, name, length + 1);
  return SQLITE_OK;
}

}  // namespace

// One for each that has been the default, never destroyed: SQLite may still use the one before.
const char* plain_name_vfs() {
  static auto& mutex = *new std::mutex;
  static auto& made = *new std::map<const sqlite3_vfs*, plain_vfs>;
  const std::lock_guard lock(mutex);
  const sqlite3_vfs* const usual = sqlite3_vfs_find(nullptr);
  if (usual == nullptr) return nullptr;
  const auto [place, is_new] = made.try_emplace(usual);
  plain_vfs& plain = place->second;
  if (is_new) {
    plain.name = "libtune-plain-" + std::string(usual->zName);
    plain.vfs = *usual;
    plain.vfs.pNext = nullptr;
    plain.vfs.zName = plain.name.c_str();
    plain.vfs.xFullPathname = keep_name;
    if (sqlite3_vfs_register(&plain.vfs, 0) != SQLITE_OK) {
      made.erase(place);
      return nullptr;
    }
  }
  return plain.name.c_str();
}

}  // namespace tune::detail
