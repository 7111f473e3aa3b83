// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The parts that check_backend_conformance is made of.
#pragma once

#include <span>

#include "libtune/device/device.hpp"

namespace tune::testing {

/// One thing that a backend has to do.
struct requirement {
  const char* sentence;  ///< names the doctest subcase, so no two may be the same
  void (*check)(const device&);
};

std::span<const requirement> buffer_requirements();
std::span<const requirement> copy_requirements();
std::span<const requirement> event_requirements();
std::span<const requirement> fill_requirements();
std::span<const requirement> graph_requirements();
std::span<const requirement> image_requirements();
std::span<const requirement> launch_requirements();
std::span<const requirement> lifetime_requirements();
std::span<const requirement> memory_requirements();
std::span<const requirement> program_requirements();
std::span<const requirement> sub_buffer_requirements();
std::span<const requirement> thread_requirements();

}  // namespace tune::testing
