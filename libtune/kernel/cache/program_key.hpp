// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/store/cache/binary_key.hpp"

namespace tune {

/// All that the binary of a program depends on, files that it includes apart: its text and options,
/// the device, and what compiles for it: the compiler, the options that libtune adds (they are part
/// of context::compiler_identity), and the version of libtune.
binary_key program_key(const context& context, const program_source& source);

}  // namespace tune
