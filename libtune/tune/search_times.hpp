// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Where the time of a search went, seen from its thread. The parts do not overlap.
struct search_times {
  std::chrono::nanoseconds measuring{0};    ///< the device had something to do
  std::chrono::nanoseconds device_wait{0};  ///< others measured on the device
  std::chrono::nanoseconds waiting{0};  ///< there was nothing to measure, but programs were made
  std::chrono::nanoseconds idle{0};     ///< neither: the rest
  std::chrono::nanoseconds idle_overlap{0};  ///< of idle, while no program was being made either
};

}  // namespace tune
