// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The frame of a protocol's messages: magic number, length of the content, content.
struct frame_form {
  std::uint32_t magic = 0;
  std::uint64_t longest_content_bytes = 0;  ///< a length beyond it is nonsense

  static constexpr std::size_t header_bytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);
};

/// Cuts what arrives, in whatever pieces, into frames.
class frame_reader {
 public:
  explicit frame_reader(const frame_form& form) noexcept : form_(form) {}

  void append(std::span<const std::byte> bytes);
  /// The content of the first frame that has not been dropped, valid until the next append; empty
  /// if it has not arrived whole.
  /// @throws wire_error if what has arrived is no frame; then none follows
  std::optional<std::span<const std::byte>> first() const;
  /// Goes on to the frame after this one, whose content first() has given.
  void drop(std::span<const std::byte> content) noexcept;

 private:
  frame_form form_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // of what has not been dropped
};

}  // namespace tune::detail
