// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "libtune/device/device.hpp"

namespace tune {

/// The text that goes before every kernel, so that one kernel text serves both APIs. The table of
/// the words that it defines is in libtune/kernel/README.md. No macro of a kernel may have the
/// name of one: see defines.
std::string_view preamble(kernel_language language) noexcept;

}  // namespace tune
