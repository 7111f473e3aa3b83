// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The index of a file of frames: the table of its chunks, and all frames without their contents.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/sha256.hpp"
#include "libtune/extra/capture/captured_frame.hpp"

namespace tune::detail {

/// The file begins with this, and ends with an end mark. Never change these: they are in files.
constexpr std::string_view capture_begin = "LTCAPTR1";
constexpr std::string_view capture_end = "LTCAPEND";

/// Contents are cut into chunks of this size.
constexpr std::size_t capture_chunk_bytes = std::size_t{1} << 20;

/// A chunk of contents in a file.
struct capture_chunk {
  std::uint64_t offset = 0;  ///< of its first byte in the file
  std::uint64_t packed = 0;  ///< its bytes in the file; the same as bytes if not compressed
  std::uint64_t bytes = 0;   ///< its bytes
  sha256_digest digest{};    ///< of its bytes
};

/// The fixed part at the end of a file.
struct capture_end_mark {
  /// The text, and numbers of 64 bits, the lowest byte first.
  static constexpr std::size_t size = 8 + 3 * 8 + 32;

  std::uint64_t offset = 0;  ///< of the index
  std::uint64_t packed = 0;  ///< the bytes of the index in the file
  std::uint64_t bytes = 0;   ///< its bytes
  sha256_digest digest{};    ///< of its bytes

  std::array<std::byte, size> encode() const;
  /// Returns false if the bytes are no end mark.
  bool decode(const std::array<std::byte, size>& from);
};

/// The parts of the index.
struct frame_index {
  std::vector<capture_chunk> chunks;
  std::vector<captured_frame> frames;
};

/// The index as JSON.
std::string index_text(const frame_index& index);

/// Reads the index of a file.
/// @param file_bytes  the bytes before the index, within which chunks have to lie
/// @throws argument_error for any other text, also if contents have other bytes than their slot
frame_index index_from_text(std::string_view text, std::uint64_t file_bytes);

}  // namespace tune::detail
