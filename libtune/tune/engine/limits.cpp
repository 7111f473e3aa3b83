// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/limits.hpp"

#include <fmt/format.h>

namespace tune {

std::optional<std::string> find_broken_limit(const resources& asked, const device_limits& limits) {
  const auto& group = asked.work_group;
  const std::size_t items = group[0] * group[1] * group[2];
  if (items > limits.max_work_group_size) {
    return fmt::format("a work group of {} work items, the device allows {}", items,
                       limits.max_work_group_size);
  }
  for (std::size_t axis = 0; axis < group.size(); ++axis) {
    if (group[axis] > limits.max_work_group_extent[axis]) {
      return fmt::format("a work group of {} along {}, the device allows {}", group[axis],
                         "xyz"[axis], limits.max_work_group_extent[axis]);
    }
  }
  if (asked.local_memory_bytes > limits.local_memory_bytes) {
    return fmt::format("{} bytes of local memory, the device has {}", asked.local_memory_bytes,
                       limits.local_memory_bytes);
  }
  return std::nullopt;
}

}  // namespace tune
