// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/report/to_json.hpp"

#include <cmath>
#include <utility>

namespace tune::detail {

using json = nlohmann::ordered_json;

json to_json(double number) { return std::isfinite(number) ? json(number) : json(nullptr); }

json to_json(const value& v) {
  struct {
    json operator()(std::monostate) const { return nullptr; }
    json operator()(bool b) const { return b; }
    json operator()(std::int64_t i) const { return i; }
    json operator()(std::uint64_t i) const { return i; }
    json operator()(double d) const { return to_json(d); }
    json operator()(const std::string& s) const { return s; }
  } converter;
  return std::visit(converter, v);
}

json to_json(const std::vector<named_value>& values) {
  json object = json::object();
  for (const named_value& item : values) object[item.name] = to_json(item.value);
  return object;
}

json to_json(const device_identity& device) {
  return {{"name", device.name}, {"platform", device.platform}, {"version", device.driver_version}};
}

json to_json(const trial& item) {
  json samples = json::array();
  for (const run_time time : item.samples.times()) samples.push_back(to_json(time.count()));
  return {{"configuration", to_json(item.configuration)},
          {"outcome", outcome_name(item.outcome)},
          {"reason", item.reason},
          {"score_ns", item.score ? to_json(item.score->count()) : json(nullptr)},
          {"samples_ns", std::move(samples)},
          {"preparation_ns", item.preparation.count()}};
}

}  // namespace tune::detail
