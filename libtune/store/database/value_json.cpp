// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/value_json.hpp"

#include <cmath>

#include "libtune/store/database/plain_json.hpp"

namespace tune {

using json = nlohmann::ordered_json;

json detail::plain_json(const value& v) {
  struct {
    json operator()(std::monostate) const { return nullptr; }
    json operator()(bool b) const { return b; }
    json operator()(std::int64_t i) const { return i; }
    json operator()(std::uint64_t i) const { return i; }
    json operator()(double d) const { return std::isfinite(d) ? json(d) : json(to_string(d)); }
    json operator()(const std::string& s) const { return s; }
  } writer;
  return std::visit(writer, v);
}

json detail::plain_json(const std::vector<named_value>& values) {
  json object = json::object();
  for (const named_value& item : values) object[item.name] = plain_json(item.value);
  return object;
}

namespace {

std::string text_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string to_json_text(const value& v) { return text_of(detail::plain_json(v)); }

std::string to_json_text(const std::vector<named_value>& values) {
  return text_of(detail::plain_json(values));
}

}  // namespace tune
