// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/workload.hpp"

#include <algorithm>

#include "libtune/device/device.hpp"

namespace tune::operations {

std::size_t workload_bytes(const device& device) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const device_limits& limits = device.limits();
  const bool is_gpu = device.kind() == device_kind::gpu;
  const std::size_t unknown_cache = is_gpu ? 64 * mebibyte : 0;
  const std::size_t cache = limits.cache_bytes != 0 ? limits.cache_bytes : unknown_cache;
  // A GPU is fast enough for as much as arrays have in earnest, and there the order in which memory
  // is visited matters more.
  const std::size_t wanted = std::max((is_gpu ? 16 : 5) * cache, 32 * mebibyte);
  return std::min({wanted, limits.max_allocation_bytes, limits.global_memory_bytes / 8});
}

}  // namespace tune::operations
