// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/program_cache.hpp"

#include <mutex>
#include <string>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/compile/recent_binaries.hpp"
#include "libtune/store/binary_cache.hpp"
#include "libtune/store/user_cache_folder.hpp"

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

program_caches current_caches() {
  static std::mutex mutex;
  static program_caches kept;
  std::string folder = wanted_folder();
  if (folder.empty()) return {};
  const std::lock_guard lock(mutex);
  if (kept.folder != folder) {
    kept.files = std::make_shared<const binary_cache>(folder);
    kept.recent = std::make_shared<recent_binaries>();
    kept.folder = std::move(folder);
  }
  return kept;
}

}  // namespace

std::shared_ptr<const binary_cache> program_cache() { return current_caches().files; }

std::shared_ptr<recent_binaries> recent_programs() { return current_caches().recent; }

}  // namespace tune
