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
  if (count > rest_.size() / bytes_each) throw wire_error("a message counts more than it holds");
  return static_cast<std::size_t>(count);
}

void wire_reader::finish() const {
  if (!rest_.empty()) throw wire_error("a message goes on after its end");
}

}  // namespace tune::detail
