// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/databases.hpp"

#include <mutex>

#include "libtune/base/fork_guard.hpp"
#include "libtune/store/tuning_database.hpp"

namespace tune {

std::shared_ptr<tuning_database> open_database(const std::string& path) {
  static std::mutex mutex;
  static std::string kept_path;
  static std::shared_ptr<tuning_database> kept;
  if (path.empty()) return nullptr;
  const detail::fork_guard no_fork;
  const std::lock_guard lock(mutex);
  if (!kept || kept_path != path) {
    kept = std::make_shared<tuning_database>(path);
    kept_path = path;
  }
  return kept;
}

}  // namespace tune
