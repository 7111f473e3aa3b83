// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Whether a preamble defines the name: a macro, a function or a type of either language.
bool is_portable_word(std::string_view name);

/// Whether a name is a keyword or a type that OpenCL C or CUDA C++ has without a header.
bool is_keyword(std::string_view name) noexcept;

}  // namespace tune
