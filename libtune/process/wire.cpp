// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/wire.hpp"

namespace tune::detail {

void wire_writer::append(const void* from, std::size_t count) {
  const auto* bytes = static_cast<const std::byte*>(from);
  bytes_.insert(bytes_.end(), bytes, bytes + count);
}

void wire_writer::add(std::string_view text) { add(std::as_bytes(std::span(text))); }

void wire_writer::add(std::span<const std::byte> bytes) {
  add(std::uint64_t{bytes.size()});
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::span<const std::byte> wire_reader::take_bytes(std::uint64_t count) {
  if (count > rest_.size()) throw wire_error("a message ends too early");
  const auto taken = rest_.first(static_cast<std::size_t>(count));
  rest_ = rest_.subspan(taken.size());
  return taken;
}

std::string wire_reader::take_text() {
  const auto bytes = take_bytes(take<std::uint64_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> wire_reader::take_block() {
  const auto bytes = take_bytes(take<std::uint64_t>());
  return {bytes.begin(), bytes.end()};
}

std::size_t wire_reader::take_count(std::size_t bytes_each) {
  const auto count = take<std::uint64_t>();
  if (count > rest_.size() / bytes_each)
    throw wire_error("a message counts more items than it holds");
  return static_cast<std::size_t>(count);
}

void wire_reader::finish() const {
  if (!rest_.empty()) throw wire_error("a message has bytes after its end");
}

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
  if (header.take<std::uint32_t>() != form_.magic)
    throw wire_error("the bytes that arrived are not a message");
  const auto length = header.take<std::uint64_t>();
  if (length > form_.longest_content_bytes) {
    throw wire_error("the length of a message is over the limit");
  }
  if (arrived.size() - frame_form::header_bytes < length) return std::nullopt;
  return arrived.subspan(frame_form::header_bytes, static_cast<std::size_t>(length));
}

void frame_reader::drop(std::span<const std::byte> content) noexcept {
  begin_ += frame_form::header_bytes + content.size();
}

}  // namespace tune::detail
