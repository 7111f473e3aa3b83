// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/pipeline_result.hpp"

#include <fmt/format.h>

#include "libtune/device/device.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::detail {
namespace {

std::string to_text(const pipeline_goal& goal) {
  std::string text = "max rate";
  if (goal.rate > 0) {
    const std::string what =
        goal.figure.empty() ? fmt::format("p{:g}", 100 * goal.quantile) : goal.figure;
    text = fmt::format("min {} at {:g} units/s", what, goal.rate);
  }
  return fmt::format("{}, deadline {:g} us, late {:g}", text, 1e6 * goal.deadline.count(),
                     goal.late);
}

}  // namespace

std::vector<named_value> pipeline_key(const pipeline_space& space, const pipeline_goal& goal) {
  std::vector<named_value> key = space.identity().key.values();
  key.push_back({"goal", to_text(goal)});
  return key;
}

std::vector<named_value> pipeline_values(const configuration& knobs, double rate) {
  std::vector<named_value> values = knobs.values();
  values.push_back({pipeline_rate_name, rate});
  return values;
}

void store_pipeline_result(const context& where, const pipeline_space& space,
                           const pipeline_goal& goal, const configuration& knobs) {
  if (current_test_mode() != test_mode::off) return;
  const tuning_settings settings = resolve_settings(*tuning_options_of(where));
  if (!settings.lock.empty() || settings.mode == tuning_mode::cached) return;
  const std::vector<named_value> key = pipeline_key(space, goal);
  const std::vector<named_value> values = pipeline_values(knobs, goal.rate);
  warn_on_database_error([&] {
    const auto database = open_layers(settings, database_access::read_write)->user();
    if (!database) return;
    database->store({space.identity().name, space.identity().version, describe_values(key),
                     describe_values(values)},
                    {key, where.device().identity()}, values, std::nullopt);
  });
}

}  // namespace tune::detail
