// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The version of this libtune, such as "1.0.0".
std::string_view library_version() noexcept;

}  // namespace tune
