// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Of the readers of recordings alone: this header, unlike the others, shows another library's
// types.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/base/value.hpp"

namespace tune::detail {

/// A member of a JSON object. @throws argument_error if there is none, or this is no object
inline const nlohmann::json& recorded_member(const nlohmann::json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end()) {
    throw argument_error(std::string("a recording lacks '") + name + "'");
  }
  return *found;
}

inline std::string text_or_empty(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A number, or 0 where there is none.
inline double number_or_zero(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

/// A candidate's value. Integers are signed where they fit, so that equal ones are equal.
inline value to_value(const nlohmann::json& item) {
  if (item.is_boolean()) return item.get<bool>();
  if (item.is_number_unsigned() && item.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
    return item.get<std::uint64_t>();
  }
  if (item.is_number_integer()) return item.get<std::int64_t>();
  if (item.is_number()) return item.get<double>();
  if (item.is_string()) return item.get<std::string>();
  throw argument_error("a recorded parameter has a value that is neither number nor text");
}

/// @throws argument_error if the text is no JSON
inline nlohmann::json parse(std::string_view text) {
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded()) throw argument_error("a recording is no JSON, or is cut off");
  return document;
}

}  // namespace tune::detail
