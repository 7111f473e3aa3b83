// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/isolation/tuner_message.hpp"

#include <cstring>
#include <utility>

#include "libtune/isolation/message_fields.hpp"

namespace tune::detail {
namespace {

constexpr frame_form form{.magic = 0x4E54544C,  // "LTTN"
                          .longest_content_bytes = longest_tuner_message_bytes};

}  // namespace

std::vector<std::byte> encode(const tuner_message& message) {
  wire_writer writer;
  writer.add(form.magic);
  writer.add(std::uint64_t{0});
  field_writer fields(writer);
  fields(message);
  const std::uint64_t length = writer.bytes().size() - form.header_bytes();
  if (length > longest_tuner_message_bytes) throw wire_error("a message is too long to be sent");
  std::memcpy(writer.bytes().data() + form.header_bytes() - sizeof length, &length, sizeof length);
  return std::move(writer.bytes());
}

tuner_message_reader::tuner_message_reader() noexcept : frames_(form) {}

std::optional<tuner_message> tuner_message_reader::next() {
  const auto whole = frames_.first();
  if (!whole) return std::nullopt;
  wire_reader content(whole->content);
  tuner_message message;
  field_reader fields(content);
  fields(message);
  // Another version may say more.
  if (!std::holds_alternative<tuner_greeting>(message)) content.finish();
  frames_.drop(*whole);
  return message;
}

}  // namespace tune::detail
