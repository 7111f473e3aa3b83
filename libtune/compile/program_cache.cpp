// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/program_cache.hpp"

#include <mutex>
#include <string>

#include "libtune/base/environment.hpp"
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

}  // namespace

std::shared_ptr<const binary_cache> program_cache() {
  static std::mutex mutex;
  static std::string kept_folder;
  static std::shared_ptr<const binary_cache> kept;
  const std::string folder = wanted_folder();
  if (folder.empty()) return nullptr;
  const std::lock_guard lock(mutex);
  if (!kept || kept_folder != folder) {
    kept = std::make_shared<const binary_cache>(folder);
    kept_folder = folder;
  }
  return kept;
}

}  // namespace tune
