// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/exchange/to_json.hpp"

#include <cmath>
#include <utility>

#include "libtune/store/database/plain_json.hpp"

namespace tune::detail {

using json = nlohmann::ordered_json;

json to_json(double number) { return std::isfinite(number) ? json(number) : json(nullptr); }

json to_json(const device_identity& device) {
  return {{"name", device.name}, {"platform", device.platform}, {"version", device.driver_version}};
}

json to_json(const trial& item) {
  json samples = json::array();
  for (const run_time time : item.samples.times()) samples.push_back(to_json(time.count()));
  return {{"configuration", plain_json(item.configuration)},
          {"outcome", outcome_name(item.outcome)},
          {"reason", item.reason},
          {"score_ns", item.score ? to_json(item.score->count()) : json(nullptr)},
          {"score_lower_ns", item.bounds ? to_json(item.bounds->lower.count()) : json(nullptr)},
          {"score_upper_ns", item.bounds ? to_json(item.bounds->upper.count()) : json(nullptr)},
          {"samples_ns", std::move(samples)},
          {"preparation_ns", item.preparation.count()}};
}

}  // namespace tune::detail
