// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/device_group.hpp"

#include <algorithm>

namespace tune {

std::vector<device_group> group_devices(std::span<const device> devices) {
  std::vector<device_group> groups;
  for (const device& item : devices) {
    const auto group = std::ranges::find_if(groups, [&](const device_group& known) {
      return known.info().backend == item.info().backend &&
             known.info().identity == item.info().identity;
    });
    if (group == groups.end()) {
      groups.push_back({{item}});
    } else {
      group->devices.push_back(item);
    }
  }
  return groups;
}

}  // namespace tune
