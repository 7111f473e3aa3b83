// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

using sha256_digest = std::array<std::byte, 32>;

/// The SHA-256 of some bytes. Thread-safe; works until the very end of the process.
sha256_digest sha256(std::span<const std::byte> bytes);

/// Bytes as lower-case hexadecimal digits, two for each.
std::string to_hex(std::span<const std::byte> bytes);

}  // namespace tune::detail
