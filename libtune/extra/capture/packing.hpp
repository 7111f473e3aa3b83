// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Compresses bytes. @param level  1 (fast) to 9 (small). Returns false, with packed unspecified,
/// if the result would be no smaller. The memory of packed is used again.
bool pack(std::span<const std::byte> bytes, int level, std::vector<std::byte>& packed);

/// Decompresses to exactly the size of bytes. Returns false if packed is damaged or has another
/// size.
bool unpack(std::span<const std::byte> packed, std::span<std::byte> bytes);

}  // namespace tune::detail
