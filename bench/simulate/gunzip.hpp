// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// What gzip compressed, or the bytes themselves if they do not begin as gzip's files do.
/// @param most_bytes  what unpacks to more than this is refused, not unpacked
/// @throws argument_error if the bytes are damaged or too many
std::string gunzip(std::string_view bytes, std::size_t most_bytes = std::size_t{1} << 32);

}  // namespace tune
