// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/user_cache_folder.hpp"

#include "libtune/base/environment.hpp"

namespace tune {

// The XDG Base Directory specification asks that a relative path be ignored.
std::optional<std::string> user_cache_folder() {
  const auto cache = read_environment("XDG_CACHE_HOME");
  if (cache && cache->front() == '/') return *cache + "/libtune";
  const auto home = read_environment("HOME");
  // Users without a home have the root folder for one.
  if (home && home->front() == '/' && *home != "/") return *home + "/.cache/libtune";
  return std::nullopt;
}

}  // namespace tune
