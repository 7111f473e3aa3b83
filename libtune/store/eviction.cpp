// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/eviction.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tune::detail {

std::vector<std::string> least_recently_used(std::vector<listed_file> files,
                                             std::uint64_t allowed_bytes, file_time now) {
  std::uint64_t total = 0;
  for (const listed_file& file : files) total += file.bytes;
  std::vector<std::string> names;
  if (total <= allowed_bytes) return names;
  // Machines that share a folder may be some minutes apart, and that is no fault.
  constexpr file_time one_hour = 3'600'000'000'000;
  const auto order_of = [&](const listed_file& file) {
    return std::tuple<bool, file_time, const std::string&>(file.used <= now + one_hour, file.used,
                                                           file.name);
  };
  std::ranges::sort(files, std::ranges::less{}, order_of);
  for (listed_file& file : files) {
    if (total <= allowed_bytes) break;
    total -= file.bytes;
    names.push_back(std::move(file.name));
  }
  return names;
}

}  // namespace tune::detail
