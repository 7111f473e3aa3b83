// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/frame_index.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/store/database/identity_column.hpp"

namespace tune {

constexpr std::array<std::string_view, 3> reason_names{"asked", "each_nth", "over_deadline"};

std::string_view capture_reason_name(capture_reason reason) noexcept {
  return reason_names[static_cast<std::size_t>(reason)];
}

}  // namespace tune

namespace tune::detail {
namespace {

constexpr const char* index_format = "libtune captured frames";
constexpr int index_version = 1;
// Sequences nest less deeply; so do documents that parse_input accepts.
constexpr int most_levels = 16;

void put(std::byte* to, std::uint64_t number) {
  for (std::size_t i = 0; i < 8; ++i) to[i] = static_cast<std::byte>(number >> (8 * i) & 0xFF);
}

std::uint64_t take(const std::byte* from) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return number;
}

// ---- to JSON

// With the kind of each value, because a parameter may have any, and the reader does not know it.
json values_json(const std::vector<named_value>& values) {
  json list = json::array();
  for (const named_value& each : values) {
    list.push_back({{"name", text_to_json(each.name)},
                    {"kind", kind_name(kind_of(each.value))},
                    {"value", exact_json(each.value)}});
  }
  return list;
}

json shape_json(const shape& extents) { return std::vector(extents.begin(), extents.end()); }

json texts_json(const std::vector<std::string>& texts) {
  json list = json::array();
  for (const std::string& each : texts) list.push_back(text_to_json(each));
  return list;
}

json contents_json(const std::optional<captured_contents>& contents) {
  return contents ? json(contents->chunks) : json();
}

json slot_json(const captured_slot& slot) {
  return {{"name", text_to_json(slot.name)},
          {"type", slot.type},
          {"size", shape_json(slot.size)},
          {"padded", shape_json(slot.padded)},
          {"bytes", slot.bytes},
          {"shares", text_to_json(slot.shares)},
          {"changed", slot.changed},
          {"before", contents_json(slot.before)},
          {"after", contents_json(slot.after)}};
}

json form_json(const captured_operation_form& form) {
  json document{{"type", text_to_json(form.type)}, {"parameters", values_json(form.parameters)}};
  if (!form.function.empty()) {
    document["function"] = text_to_json(form.function);
    document["key"] = values_json(form.key);
  }
  if (form.children.empty()) return document;
  document["child_names"] = texts_json(form.child_names);
  json& children = document["children"] = json::array();
  for (const captured_operation_form& each : form.children) children.push_back(form_json(each));
  json& joins = document["joins"] = json::array();
  for (const captured_join& each : form.joins) {
    joins.push_back({{"name", text_to_json(each.name)},
                     {"alias", each.is_alias},
                     {"slots", texts_json(each.slots)}});
  }
  return document;
}

json call_json(const captured_call& call) {
  json slots = json::array();
  for (const captured_slot& each : call.slots) slots.push_back(slot_json(each));
  return {{"name", text_to_json(call.name)},
          {"operation", form_json(call.form)},
          {"function", text_to_json(call.function)},
          {"key", values_json(call.key)},
          {"slots", std::move(slots)}};
}

json frame_json(const captured_frame& frame) {
  using std::chrono::microseconds;
  const auto since = frame.time.time_since_epoch();
  json calls = json::array();
  for (const captured_call& each : frame.calls) calls.push_back(call_json(each));
  return {{"number", frame.number},
          {"reason", capture_reason_name(frame.reason)},
          {"pipeline", text_to_json(frame.pipeline)},
          {"weight", frame.weight},
          {"time_us", std::chrono::duration_cast<microseconds>(since).count()},
          {"duration_ns", frame.duration ? json(frame.duration->count()) : json()},
          {"device", exact_json(frame.device)},
          {"backend", text_to_json(frame.backend)},
          {"version", text_to_json(frame.version)},
          {"calls", std::move(calls)}};
}

// ---- from JSON

std::string text_of(const input& object, const char* name) {
  return text_from_json(member(object, name));
}

std::uint64_t number_of(const input& item) {
  if (!item.is_number_unsigned()) refuse_document("a number is negative, or no whole number");
  return item.get<std::uint64_t>();
}

std::uint64_t number_of(const input& object, const char* name) {
  return number_of(member(object, name));
}

bool truth_of(const input& object, const char* name) {
  const input& item = member(object, name);
  if (!item.is_boolean()) refuse_document(fmt::format("'{}' is neither true nor false", name));
  return item.get<bool>();
}

double real_of(const input& object, const char* name) {
  const input& item = member(object, name);
  if (!item.is_number()) refuse_document(fmt::format("'{}' is no number", name));
  return item.get<double>();
}

std::int64_t signed_of(const input& object, const char* name) {
  const input& item = member(object, name);
  if (!item.is_number_integer()) refuse_document(fmt::format("'{}' is no whole number", name));
  return signed_from_json(item);
}

std::vector<named_value> values_of(const input& object, const char* name) {
  std::vector<named_value> values;
  for (const input& item : array_member(object, name)) {
    const auto kind = find_kind(text_of(item, "kind"));
    if (!kind) refuse_document("the kind of a value is unknown");
    values.push_back({text_of(item, "name"), value_from_json(member(item, "value"), *kind)});
  }
  return values;
}

std::vector<std::string> texts_of(const input& object, const char* name) {
  std::vector<std::string> texts;
  for (const input& item : array_member(object, name)) texts.push_back(text_from_json(item));
  return texts;
}

shape shape_of(const input& object, const char* name) {
  std::vector<std::size_t> extents;
  for (const input& item : array_member(object, name)) extents.push_back(number_of(item));
  return shape(extents);
}

std::chrono::system_clock::time_point time_of(std::int64_t microseconds) {
  using duration = std::chrono::system_clock::duration;
  constexpr auto most =
      std::chrono::duration_cast<std::chrono::microseconds>(duration::max()).count();
  if (microseconds < -most || microseconds > most) refuse_document("a time is out of range");
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<duration>(std::chrono::microseconds(microseconds)));
}

/// Reads frames, whose contents refer to these chunks.
class frame_parser {
 public:
  explicit frame_parser(const std::vector<capture_chunk>& chunks) : chunks_(chunks) {}

  captured_frame frame(const input& item) const;

 private:
  std::optional<captured_contents> contents(const input& slot, const char* name,
                                            std::uint64_t bytes) const;
  captured_slot slot(const input& item) const;
  captured_call call(const input& item) const;

  const std::vector<capture_chunk>& chunks_;
};

std::optional<captured_contents> frame_parser::contents(const input& slot, const char* name,
                                                        std::uint64_t bytes) const {
  if (member(slot, name).is_null()) return std::nullopt;
  captured_contents made;
  std::uint64_t sum = 0;
  for (const input& item : array_member(slot, name)) {
    const std::uint64_t number = number_of(item);
    if (number >= chunks_.size()) refuse_document("contents have an unknown chunk");
    made.chunks.push_back(static_cast<std::uint32_t>(number));
    sum += chunks_[number].bytes;
  }
  if (sum != bytes) refuse_document("contents have other bytes than their slot");
  return made;
}

captured_slot frame_parser::slot(const input& item) const {
  captured_slot made{.name = text_of(item, "name"), .type = text_of(item, "type")};
  made.size = shape_of(item, "size");
  made.padded = shape_of(item, "padded");
  made.bytes = number_of(item, "bytes");
  made.shares = text_of(item, "shares");
  made.changed = truth_of(item, "changed");
  if (!fits_in(made.size, made.padded)) refuse_document("a slot is larger than its padded array");
  made.before = contents(item, "before", made.bytes);
  made.after = contents(item, "after", made.bytes);
  return made;
}

captured_operation_form read_form(const input& item, int level) {
  if (level > most_levels) refuse_document("sequences nest too deeply");
  captured_operation_form made{.type = text_of(item, "type"),
                               .parameters = values_of(item, "parameters")};
  if (item.contains("function")) {  // not in files of an earlier libtune
    made.function = text_of(item, "function");
    made.key = values_of(item, "key");
  }
  if (!item.contains("children")) return made;
  made.child_names = texts_of(item, "child_names");
  for (const input& each : array_member(item, "children")) {
    made.children.push_back(read_form(each, level + 1));
  }
  if (made.children.size() != made.child_names.size()) {
    refuse_document("a sequence has other names than children");
  }
  for (const input& each : array_member(item, "joins")) {
    made.joins.push_back({text_of(each, "name"), truth_of(each, "alias"), texts_of(each, "slots")});
  }
  return made;
}

captured_call frame_parser::call(const input& item) const {
  captured_call made{.name = text_of(item, "name"),
                     .form = read_form(member(item, "operation"), 0),
                     .function = text_of(item, "function"),
                     .key = values_of(item, "key")};
  for (const input& each : array_member(item, "slots")) made.slots.push_back(slot(each));
  return made;
}

captured_frame frame_parser::frame(const input& item) const {
  captured_frame made{.number = number_of(item, "number")};
  const auto reason = std::ranges::find(reason_names, text_of(item, "reason"));
  if (reason == reason_names.end()) refuse_document("the reason of a frame is unknown");
  made.reason = static_cast<capture_reason>(reason - reason_names.begin());
  made.pipeline = text_of(item, "pipeline");
  made.weight = real_of(item, "weight");
  made.time = time_of(signed_of(item, "time_us"));
  if (!member(item, "duration_ns").is_null()) {
    made.duration = std::chrono::nanoseconds(signed_of(item, "duration_ns"));
  }
  made.device = device_from_json(member(item, "device"));
  made.backend = text_of(item, "backend");
  made.version = text_of(item, "version");
  for (const input& each : array_member(item, "calls")) made.calls.push_back(call(each));
  return made;
}

capture_chunk chunk_of(const input& item, std::uint64_t file_bytes) {
  capture_chunk chunk{.offset = number_of(item, "offset"),
                      .packed = number_of(item, "packed"),
                      .bytes = number_of(item, "bytes")};
  const bool is_inside = chunk.packed <= file_bytes && chunk.offset <= file_bytes - chunk.packed;
  if (!is_inside || chunk.bytes > capture_chunk_bytes || chunk.packed > chunk.bytes) {
    refuse_document("a chunk lies outside of the file, or is too large");
  }
  const std::string digest = bytes_from_hex(member(item, "sha256"));
  if (digest.size() != chunk.digest.size()) refuse_document("a digest has no 32 bytes");
  std::memcpy(chunk.digest.data(), digest.data(), digest.size());
  return chunk;
}

}  // namespace

std::array<std::byte, capture_end_mark::size> capture_end_mark::encode() const {
  std::array<std::byte, size> bytes{};
  std::memcpy(bytes.data(), capture_end.data(), capture_end.size());
  put(bytes.data() + 8, offset);
  put(bytes.data() + 16, packed);
  put(bytes.data() + 24, this->bytes);
  std::ranges::copy(digest, bytes.begin() + 32);
  return bytes;
}

bool capture_end_mark::decode(const std::array<std::byte, size>& from) {
  if (std::memcmp(from.data(), capture_end.data(), capture_end.size()) != 0) return false;
  offset = take(from.data() + 8);
  packed = take(from.data() + 16);
  bytes = take(from.data() + 24);
  std::copy(from.begin() + 32, from.end(), digest.begin());
  return true;
}

std::string index_text(const frame_index& index) {
  json document{{"format", index_format}, {"format_version", index_version}};
  json& chunks = document["chunks"] = json::array();
  for (const capture_chunk& each : index.chunks) {
    chunks.push_back({{"offset", each.offset},
                      {"packed", each.packed},
                      {"bytes", each.bytes},
                      {"sha256", to_hex(each.digest)}});
  }
  json& frames = document["frames"] = json::array();
  for (const captured_frame& each : index.frames) frames.push_back(frame_json(each));
  return json_text(document);
}

frame_index index_from_text(std::string_view text, std::uint64_t file_bytes) {
  const input document = parse_document(text, index_format, index_version);
  frame_index index;
  for (const input& each : array_member(document, "chunks")) {
    index.chunks.push_back(chunk_of(each, file_bytes));
  }
  const frame_parser parser(index.chunks);
  for (const input& each : array_member(document, "frames")) {
    index.frames.push_back(parser.frame(each));
  }
  return index;
}

}  // namespace tune::detail
