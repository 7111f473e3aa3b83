// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "libtune/device/device.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {

/// Which limit of the device a configuration would break, if any:
/// "a work group of 2048 work items, the device allows 1024".
std::optional<std::string> find_broken_limit(const resources& asked, const device_limits& limits);

}  // namespace tune
