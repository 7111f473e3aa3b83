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

std::optional<frame> frame_reader::first() const {
  const auto arrived = std::span<const std::byte>(bytes_).subspan(begin_);
  const std::size_t header_bytes = form_.header_bytes();
  if (arrived.size() < header_bytes) return std::nullopt;
  const auto kind = arrived.subspan(sizeof form_.magic, form_.kind_bytes);
  if (wire_reader(arrived).take<std::uint32_t>() != form_.magic) {
    throw wire_error("what arrived is no message");
  }
  const auto length =
      wire_reader(arrived.subspan(sizeof form_.magic + kind.size())).take<std::uint64_t>();
  if (length > form_.longest_content_bytes) {
    throw wire_error("a message says that it is too long");
  }
  if (arrived.size() - header_bytes < length) return std::nullopt;
  return frame{.kind = kind,
               .content = arrived.subspan(header_bytes, static_cast<std::size_t>(length))};
}

void frame_reader::drop(const frame& read) noexcept {
  begin_ += form_.header_bytes() + read.content.size();
}

}  // namespace tune::detail
