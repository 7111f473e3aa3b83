// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/frame_reader.hpp"

#include "libtune/process/wire.hpp"

namespace tune::detail {

void frame_reader::append(std::span<const std::byte> bytes) {
  if (begin_ == bytes_.size()) {
    bytes_.clear();
    begin_ = 0;
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::optional<std::span<const std::byte>> frame_reader::first() const {
  const auto arrived = std::span<const std::byte>(bytes_).subspan(begin_);
  if (arrived.size() < frame_form::header_bytes) return std::nullopt;
  wire_reader header(arrived);
  if (header.take<std::uint32_t>() != form_.magic) throw wire_error("what arrived is no message");
  const auto length = header.take<std::uint64_t>();
  if (length > form_.longest_content_bytes) {
    throw wire_error("a message says that it is too long");
  }
  if (arrived.size() - frame_form::header_bytes < length) return std::nullopt;
  return arrived.subspan(frame_form::header_bytes, static_cast<std::size_t>(length));
}

void frame_reader::drop(std::span<const std::byte> content) noexcept {
  begin_ += frame_form::header_bytes + content.size();
}

}  // namespace tune::detail
