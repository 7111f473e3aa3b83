// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "libtune/device/device.hpp"

namespace tune {

/// The text that precedes every kernel, so that one kernel text works with both APIs.
/// libtune/kernel/README.md has a table of its words. Macros of a kernel must not have one of these
/// names: see defines.
std::string_view preamble(kernel_language language) noexcept;

/// True if a preamble defines the name: a macro, a function or a type of either language.
bool is_portable_word(std::string_view name);

/// True if a name is a keyword, or a type that OpenCL C or CUDA C++ has without a header.
bool is_keyword(std::string_view name) noexcept;

}  // namespace tune
