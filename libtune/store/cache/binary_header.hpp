// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a file of the binary cache begins with. These bytes are on disk: a change of any of them
// needs another binary_format. Integers are little-endian.
//
//   offset  bytes  content
//        0      8  "libtune" and a zero byte
//        8      4  the format
//       12     32  SHA-256 of the key
//       44      8  length of the binary
//       52     32  SHA-256 of the binary
//       84         the binary, to the end of the file
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "libtune/base/sha256.hpp"

namespace tune::detail {

inline constexpr std::uint32_t binary_format = 1;
inline constexpr std::size_t binary_header_bytes = 84;

/// What a header says, but for the magic word and the format.
struct binary_header {
  sha256_digest key{};
  std::uint64_t length = 0;
  sha256_digest content{};

  friend bool operator==(const binary_header&, const binary_header&) = default;
};

using encoded_binary_header = std::array<std::byte, binary_header_bytes>;

encoded_binary_header encode(const binary_header& header) noexcept;

/// What the bytes say; empty if they are not a header of this format.
std::optional<binary_header> decode(const encoded_binary_header& bytes) noexcept;

}  // namespace tune::detail
