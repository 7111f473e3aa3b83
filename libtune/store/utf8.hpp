// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Whether bytes are UTF-8 as JSON demands it: no overlong forms, no surrogates.
bool is_utf8(std::string_view text) noexcept;

/// The bytes that to_hex wrote as digits; nothing if they are anything else.
std::optional<std::string> from_hex(std::string_view digits);

}  // namespace tune::detail
