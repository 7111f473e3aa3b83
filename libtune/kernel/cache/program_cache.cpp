// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_cache.hpp"

#include <mutex>
#include <string>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/kernel/cache/recent_binaries.hpp"
#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/store/files/file_system.hpp"

namespace tune {
namespace {

/// Empty where there is to be no cache.
std::string wanted_folder() {
  if (const auto given = read_environment("LIBTUNE_CACHE")) return *given == "off" ? "" : *given;
  const auto own = user_cache_folder();
  return own ? *own + "/programs" : "";
}

struct program_caches {
  std::string folder;
  std::shared_ptr<const binary_cache> files;
  std::shared_ptr<recent_binaries> recent;
};

struct kept_caches {
  std::mutex mutex;
  program_caches latest;
};

program_caches current_caches() {
  static detail::never_destroyed<kept_caches> kept;
  std::string folder = wanted_folder();
  if (folder.empty()) return {};
  const std::lock_guard lock(kept->mutex);
  program_caches& latest = kept->latest;
  if (latest.folder != folder) {
    latest.files = std::make_shared<const binary_cache>(folder);
    latest.recent = std::make_shared<recent_binaries>();
    latest.folder = std::move(folder);
  }
  return latest;
}

}  // namespace

std::shared_ptr<const binary_cache> program_cache() { return current_caches().files; }

std::shared_ptr<recent_binaries> recent_programs() { return current_caches().recent; }

}  // namespace tune
