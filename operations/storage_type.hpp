// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune::operations {

/// The definition, as kernel text, of a type with this size for kernels that move elements but do
/// not compute with them: an unsigned integer or vector if one exists, else a struct.
/// @throws argument_error if bytes is 0
std::string storage_type(std::string_view name, std::size_t bytes);

}  // namespace tune::operations
