// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/extra/metrics/metric_page.hpp"

namespace tune::detail {

/// Adds the state of libtune in this process: its version, keys, live changes, breaches of seals,
/// the tuner behind the application and its heartbeats.
/// @param most_keys  with samples of their own
void add_library(metric_page& to, std::size_t most_keys);

}  // namespace tune::detail
