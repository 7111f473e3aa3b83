// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/isolation/tuner_message.hpp"

#include <cstring>
#include <utility>

#include "libtune/isolation/message_fields.hpp"

namespace tune::detail {
namespace {

constexpr std::uint32_t magic = 0x4E54544C;  // "LTTN"
constexpr std::size_t header_bytes = sizeof magic + sizeof(std::uint64_t);

}  // namespace

std::vector<std::byte> encode(const tuner_message& message) {
  wire_writer writer;
  writer.add(magic);
  writer.add(std::uint64_t{0});
  field_writer fields(writer);
  fields(message);
  const std::uint64_t length = writer.bytes().size() - header_bytes;
  if (length > longest_tuner_message_bytes) throw wire_error("a message is too long to be sent");
  std::memcpy(writer.bytes().data() + sizeof magic, &length, sizeof length);
  return std::move(writer.bytes());
}

void tuner_message_reader::append(std::span<const std::byte> bytes) {
  if (begin_ == bytes_.size()) {
    bytes_.clear();
    begin_ = 0;
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::optional<tuner_message> tuner_message_reader::next() {
  const auto arrived = std::span<const std::byte>(bytes_).subspan(begin_);
  if (arrived.size() < header_bytes) return std::nullopt;
  wire_reader header(arrived.first(header_bytes));
  if (header.take<std::uint32_t>() != magic) throw wire_error("what arrived is no message");
  const auto length = header.take<std::uint64_t>();
  if (length > longest_tuner_message_bytes) throw wire_error("a message says that it is too long");
  if (arrived.size() - header_bytes < length) return std::nullopt;
  wire_reader content(arrived.subspan(header_bytes, static_cast<std::size_t>(length)));
  tuner_message message;
  field_reader fields(content);
  fields(message);
  // Another version may say more.
  if (!std::holds_alternative<tuner_greeting>(message)) content.finish();
  begin_ += header_bytes + static_cast<std::size_t>(length);
  return message;
}

}  // namespace tune::detail
