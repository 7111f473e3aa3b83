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

/// True if a preamble defines the name: a macro, a function or a type of either language.
bool is_portable_word(std::string_view name);

/// True if a name is a keyword or a type that OpenCL C or CUDA C++ has without a header.
bool is_keyword(std::string_view name) noexcept;

}  // namespace tune
