// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/missed_key.hpp"

#include <vector>

#include "libtune/store/exchange_json.hpp"
#include "libtune/store/field_check.hpp"
#include "libtune/store/field_type.hpp"
#include "libtune/store/identity_column.hpp"

namespace tune {
namespace {

using detail::input;
using detail::json;
using detail::member;

constexpr int line_version = 1;
// Deeper than anything in a line; what nests deeper is left out and then missed.
constexpr int greatest_depth = 8;
// The last of them: no text holds it, for there a quotation mark is escaped, but a field of the key
// may have the name.
constexpr std::string_view after_identity = ",\"missed_at\":";

json to_json(const device_identity& device) {
  json object = json::object();
  for (const identity_column& column : identity_columns()) {
    object[column.name] = detail::exact_json(column.get(device));
  }
  return object;
}

device_identity device_from_json(const input& object) {
  device_identity device;
  for (const identity_column& column : identity_columns()) {
    const auto kind = detail::alternative_name(column.get(device));
    column.set(device, detail::value_from_json(member(object, column.name), kind));
  }
  return device;
}

// The names that a table and its columns would have are checked as if there were one.
void check(const missed_key& missed) {
  static_cast<void>(table_name(missed.function));
  check_field_names(missed.function);
  detail::check_key(missed.function.key_fields, missed.key.arguments, missed.function.name);
}

}  // namespace

std::string to_missed_line(const missed_key& missed) {
  json object{{"libtune_missed", line_version}};
  object.update(detail::exact_json(missed.function));
  object["arguments"] = detail::exact_json(missed.key.arguments);
  object["device"] = to_json(missed.key.device);
  object["missed_at"] = detail::text_to_json(missed.missed_at);
  object["program"] = detail::text_to_json(missed.program);
  return object.dump();
}

std::string_view missed_identity(std::string_view line) noexcept {
  const std::size_t end = line.rfind(after_identity);
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end);
}

missed_key from_missed_line(std::string_view line) {
  const auto shallow = [](int depth, input::parse_event_t, const input&) {
    return depth <= greatest_depth;
  };
  const input object = input::parse(line, shallow, false);
  if (object.is_discarded()) detail::refuse_document("it is not JSON");
  if (member(object, "libtune_missed") != line_version) {
    detail::refuse_document("it is of another version");
  }
  missed_key missed;
  missed.function = detail::function_from_json(object);
  missed.key.arguments = detail::values_from_json(object, "arguments", missed.function.key_fields);
  missed.key.device = device_from_json(member(object, "device"));
  missed.missed_at = detail::text_from_json(member(object, "missed_at"));
  missed.program = detail::text_from_json(member(object, "program"));
  check(missed);
  if (to_missed_line(missed) != line) detail::refuse_document("it is not as it is written");
  return missed;
}

}  // namespace tune
