// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A number larger than any that this gave out before in this process; it marks a change.
/// Thread-safe.
std::uint64_t next_version() noexcept;

}  // namespace tune
