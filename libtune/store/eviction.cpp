// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/eviction.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tune::detail {

std::vector<std::string> least_recently_used(std::vector<listed_file> files,
                                             std::uint64_t allowed_bytes) {
  std::uint64_t total = 0;
  for (const listed_file& file : files) total += file.bytes;
  std::vector<std::string> names;
  if (total <= allowed_bytes) return names;
  std::sort(files.begin(), files.end(), [](const listed_file& a, const listed_file& b) {
    return std::tie(a.used, a.name) < std::tie(b.used, b.name);
  });
  for (listed_file& file : files) {
    if (total <= allowed_bytes) break;
    total -= file.bytes;
    names.push_back(std::move(file.name));
  }
  return names;
}

}  // namespace tune::detail
