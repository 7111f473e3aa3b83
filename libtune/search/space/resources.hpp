// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// What a configuration will ask of the device, so that one which the device cannot run is skipped
/// before it is compiled.
struct resources {
  std::array<std::size_t, 3> work_group{1, 1, 1};  ///< work items along x, y and z
  std::size_t local_memory_bytes = 0;              ///< of one work group

  friend bool operator==(const resources&, const resources&) = default;
};

}  // namespace tune
