// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/identity_json.hpp"

#include "libtune/store/database/identity_column.hpp"

namespace tune::detail {

json plain_json(const device_identity& device) {
  return {{"name", device.name}, {"platform", device.platform}, {"version", device.driver_version}};
}

json exact_json(const function_identity& function) {
  return {{"name", function.name},
          {"version", function.version},
          {"key_fields", exact_json(function.key_fields)},
          {"value_fields", exact_json(function.value_fields)}};
}

json exact_json(const device_identity& device) {
  json object = json::object();
  for (const identity_column& column : identity_columns()) {
    object[column.name] = exact_json(column.get(device));
  }
  return object;
}

function_identity function_from_json(const input& object) {
  function_identity function;
  function.name = text_from_json(member(object, "name"));
  const input& version = member(object, "version");
  if (!version.is_number_unsigned() || version.get<std::uint64_t>() > 1'000'000'000) {
    refuse_document("'version' is no small number");
  }
  function.version = version.get<int>();
  function.key_fields = fields_from_json(object, "key_fields");
  function.value_fields = fields_from_json(object, "value_fields");
  return function;
}

device_identity device_from_json(const input& object) {
  device_identity device;
  for (const identity_column& column : identity_columns()) {
    const value_kind kind = kind_of(column.get(device));
    column.set(device, value_from_json(member(object, column.name), kind));
  }
  return device;
}

}  // namespace tune::detail
