// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Energy and clocks, as docs/energy.md shows them.
#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "libtune/extra/sensors/device_probes.hpp"
#include "libtune/extra/sensors/energy_sensor.hpp"
#include "libtune/extra/sensors/supported_settings.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/session.hpp"

namespace energy_guide_test {

struct clocked_tuning {
  int wgs = 64;
  int clock = 0;
};

double read_watt_hours() { return 2; }

}  // namespace energy_guide_test

LIBTUNE_FIELDS(energy_guide_test::clocked_tuning, wgs, clock)

namespace energy_guide_test {

// clang-format off
// [sensor]
class wall_meter final : public tune::energy_sensor {
 public:
  std::string name() const override { return "the meter at the wall"; }
  double joules() override { return 3600 * read_watt_hours(); }
};
// [sensor]

TEST_CASE("a sensor of an application is found as long as it is registered") {
  const tune::testing::fake_device fake;
  // [register]
  const tune::registered_energy_sensor wall(
      [](const tune::device&) { return std::make_shared<wall_meter>(); });
  // [register]
  const auto found = tune::find_energy_sensor(fake.device());
  REQUIRE(found.sensor);
  CHECK(found.sensor->joules() == doctest::Approx(7200));
}

TEST_CASE("a goal may be the energy below a limit of the power") {
  // [goal]
  tune::tuning_options options;
  options.goal = tune::tuning_goal{.objectives = {tune::minimise("energy")},
                                   .constraints = {tune::at_most("power", 400)}};
  // [goal]
  CHECK(options.goal == tune::goal_from_text("min energy, power <= 400"));
}

clocked_tuning search(tune::tuning_session& session) {
  const auto measure_of = [&](const clocked_tuning& tuning) {
    return tune::make_measure([=](int) { return 1e-3 / (tuning.wgs + tuning.clock); });
  };
  // [clocks]
  const auto offered = tune::find_supported_settings(session.context().device());
  tune::space<clocked_tuning> space;
  space.add(&clocked_tuning::wgs, {64, 128, 256});
  space.add(&clocked_tuning::clock, {0, offered.graphics_clocks_mhz.at(1)});
  return session.tune(space, [&](const clocked_tuning& tuning) {
    return measure_of(tuning).at({.graphics_clock_mhz = tuning.clock});
  });
  // [clocks]
}
// clang-format on

TEST_CASE("clocks of a device that NVML does not know are an error that says so") {
  const tune::testing::fake_device fake;
  tune::tuning_session session(fake.device().create_context(), {}, {});
  CHECK_THROWS_AS(search(session), tune::error);
}

// The counters of a device that has none: one log line, and no failure.
TEST_CASE("counters are asked for by the author of the search") {
  const tune::testing::fake_device fake;
  tune::tuning_session session(fake.device().create_context(), {}, {});
  tune::space<clocked_tuning> space;
  space.add(&clocked_tuning::wgs, {64, 128});
  const auto generate = [](const clocked_tuning& tuning) {
    return tune::make_measure([=](int) { return 1e-3 / tuning.wgs; });
  };
  // clang-format off
  // [counters]
  const auto best = session.tune(space, generate, {.metrics = {
      .probes = {std::make_shared<tune::counter_probe>(session.context())}}});
  // [counters]
  // clang-format on
  CHECK(best.wgs == 128);
}

}  // namespace energy_guide_test
