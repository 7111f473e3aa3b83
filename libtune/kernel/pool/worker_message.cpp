// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/worker_message.hpp"

#include <cstring>
#include <utility>

namespace tune::detail {
namespace {

constexpr frame_form form{.magic = 0x4B57544C,  // "LTWK"
                          .kind_bytes = sizeof(std::uint32_t),
                          .longest_content_bytes = longest_message_bytes};

void add(wire_writer& writer, const worker_greeting& greeting) {
  writer.add(greeting.protocol);
  writer.add(greeting.library);
}

void add(wire_writer& writer, const compile_target& target) {
  for (const std::string* text : {&target.backend, &target.platform, &target.device,
                                  &target.driver_version, &target.compiler_identity}) {
    writer.add(*text);
  }
  writer.add(std::int32_t{target.compute_capability.major});
  writer.add(std::int32_t{target.compute_capability.minor});
}

void add(wire_writer& writer, const prepare_order& order) { add(writer, order.target); }

void add(wire_writer& writer, const work_size& size) {
  for (const std::size_t extent : {size.x, size.y, size.z}) writer.add(std::uint64_t{extent});
}

void add(wire_writer& writer, const compile_order& order) {
  writer.add(order.id);
  add(writer, order.target);
  writer.add(order.source.name);
  writer.add(order.source.text);
  writer.add(std::uint64_t{order.source.options.size()});
  for (const std::string& option : order.source.options) writer.add(option);
  writer.add(std::uint64_t{order.launches.size()});
  for (const nd_range& launch : order.launches) {
    add(writer, launch.global);
    add(writer, launch.local);
    writer.add(std::uint64_t{launch.local_memory_bytes});
  }
  writer.add(order.folder);
}

void add(wire_writer& writer, const compile_report& report) {
  writer.add(report.id);
  writer.add(static_cast<std::uint8_t>(report.result.what));
  writer.add(report.result.text);
  writer.add(report.result.binary);
  writer.add(std::int64_t{report.result.elapsed.count()});
}

// The two in front stay as they are in all versions to come; what a later one adds is passed over.
worker_greeting take_greeting(wire_reader& reader) {
  worker_greeting greeting{.protocol = reader.take<std::uint32_t>(), .library = reader.take_text()};
  if (greeting.protocol == worker_protocol) reader.finish();
  return greeting;
}

compile_target take_target(wire_reader& reader) {
  compile_target target;
  for (std::string* text : {&target.backend, &target.platform, &target.device,
                            &target.driver_version, &target.compiler_identity}) {
    *text = reader.take_text();
  }
  target.compute_capability.major = reader.take<std::int32_t>();
  target.compute_capability.minor = reader.take<std::int32_t>();
  return target;
}

work_size take_size(wire_reader& reader) {
  work_size size;
  for (std::size_t* extent : {&size.x, &size.y, &size.z}) *extent = reader.take<std::uint64_t>();
  return size;
}

compile_order take_order(wire_reader& reader) {
  compile_order order;
  order.id = reader.take<std::uint64_t>();
  order.target = take_target(reader);
  order.source.name = reader.take_text();
  order.source.text = reader.take_text();
  order.source.options.resize(reader.take_count(sizeof(std::uint64_t)));
  for (std::string& option : order.source.options) option = reader.take_text();
  order.launches.resize(reader.take_count(7 * sizeof(std::uint64_t)));
  for (nd_range& launch : order.launches) {
    launch.global = take_size(reader);
    launch.local = take_size(reader);
    launch.local_memory_bytes = reader.take<std::uint64_t>();
  }
  order.folder = reader.take_text();
  return order;
}

compile_report take_report(wire_reader& reader) {
  compile_report report;
  report.id = reader.take<std::uint64_t>();
  const auto status = reader.take<std::uint8_t>();
  if (status > static_cast<std::uint8_t>(compile_result::status::unavailable)) {
    throw wire_error("a report says what no report can");
  }
  report.result.what = static_cast<compile_result::status>(status);
  report.result.text = reader.take_text();
  report.result.binary = reader.take_block();
  report.result.elapsed = std::chrono::nanoseconds(reader.take<std::int64_t>());
  return report;
}

worker_message take_message(std::uint32_t kind, wire_reader& reader) {
  switch (kind) {
    case 0: return take_greeting(reader);
    case 1: return prepare_order{take_target(reader)};
    case 2: return take_order(reader);
    case 3: return take_report(reader);
    default: throw wire_error("a message is of no known kind");
  }
}

}  // namespace

std::vector<std::byte> encode(const worker_message& message) {
  wire_writer writer;
  writer.add(form.magic);
  writer.add(static_cast<std::uint32_t>(message.index()));
  writer.add(std::uint64_t{0});
  std::visit([&](const auto& content) { add(writer, content); }, message);
  const std::uint64_t length = writer.bytes().size() - form.header_bytes();
  if (length > longest_message_bytes) throw wire_error("the program is too large to be sent");
  std::memcpy(writer.bytes().data() + form.header_bytes() - sizeof length, &length, sizeof length);
  return std::move(writer.bytes());
}

worker_message_reader::worker_message_reader() noexcept : frames_(form) {}

std::optional<worker_message> worker_message_reader::next() {
  const auto whole = frames_.first();
  if (!whole) return std::nullopt;
  wire_reader content(whole->content);
  worker_message message = take_message(wire_reader(whole->kind).take<std::uint32_t>(), content);
  if (!std::holds_alternative<worker_greeting>(message)) content.finish();
  frames_.drop(*whole);
  return message;
}

}  // namespace tune::detail
