// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Searches whose goal is energy, with a sensor that counts the joules of each launch.
#include <atomic>
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libtune/extra/sensors/device_probes.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/session.hpp"
#include "tests/tune/scale.hpp"

namespace energy_search_test {

using namespace std::chrono_literals;

/// Shows what launches have consumed, in steps of 2 ms.
struct launch_sensor final : tune::energy_sensor {
  std::string name() const override { return "a counter of launches"; }
  double joules() override {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_at >= 2ms) {
      shown_at = now;
      shown = static_cast<double>(consumed.load()) * 1e-3;
    }
    return shown;
  }
  tune::device_state state() override { return {.clock_mhz = 1500, .temperature_c = 60}; }

  std::atomic<long> consumed{0};  // millijoules
  double shown = 0;
  std::chrono::steady_clock::time_point shown_at{};
};

/// Configurations with rows=2 take a little longer and need a quarter of the energy.
struct bench {
  bench() {
    fake.add_kernel("scale", 2, [sensor = sensor](tune::testing::fake_launch& launch) {
      sensor->consumed += launch.integer("rows") == 2 ? 500 : 2000;
      std::this_thread::sleep_for(100us);
    });
    fake.set_time([](const tune::testing::fake_launch& launch) {
      return 100us * launch.integer("wgs") + 5us * launch.integer("rows");
    });
    subject.function = "scale";
    subject.device = fake.device().info();
    options.observers = {std::make_shared<collector>(last)};
  }

  struct collector final : tune::observer {
    explicit collector(std::vector<tune::trial>& to) : kept(to) {}
    void search_finished(const tune::search_finished_event& event) override { kept = event.trials; }
    std::vector<tune::trial>& kept;
  };

  tune::space<sample::scale_tuning> space() const {
    tune::space<sample::scale_tuning> two;
    two.add(&sample::scale_tuning::wgs, {2});
    two.add(&sample::scale_tuning::rows, {1, 2});
    return two;
  }
  sample::scale_tuning run() {
    tune::tuning_session session(context, subject, options);
    return session.tune(space(), [&](const sample::scale_tuning& tuning) {
      return sample::generate(context, tuning);
    });
  }
  tune::tuning_goal energy() const { return {.objectives = {tune::minimise("energy")}}; }

  std::shared_ptr<launch_sensor> sensor = std::make_shared<launch_sensor>();
  tune::registered_energy_sensor registered{[sensor = sensor](const auto&) { return sensor; }};
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::tuning_subject subject{};
  tune::tuning_options options{};
  std::vector<tune::trial> last{};
};

constexpr tune::energy_settings quick{.time_each = 120ms, .visits = 2};

TEST_CASE("the least energy wins where it is the goal, and the least time where it is not") {
  bench b;
  CHECK(b.run().rows == 1);
  for (const tune::trial& item : b.last) CHECK(std::isnan(tune::metric_value(item, "energy")));
  CHECK(b.sensor->shown == 0);
  b.options.goal = b.energy();
  b.options.metrics.probes = {std::make_shared<tune::energy_probe>(b.fake.device(), quick)};
  CHECK(b.run().rows == 2);
  REQUIRE(b.last.size() == 2);
  for (const tune::trial& item : b.last) {
    const bool frugal = to_string(item.configuration) == "wgs=2, rows=2";
    CHECK(tune::metric_value(item, "energy") == doctest::Approx(frugal ? 0.5 : 2.0).epsilon(0.5));
    CHECK(tune::metric_value(item, "power") > 0);
    CHECK(tune::metric_value(item, "core_clock") == doctest::Approx(1500));
    CHECK(tune::metric_value(item, "temperature") == doctest::Approx(60));
    CHECK(std::isnan(tune::metric_value(item, "throttled")));
    CHECK(std::isnan(tune::metric_value(item, "power_capped")));
  }
}

TEST_CASE("a goal that names energy or power gets the probe by itself") {
  bench b;
  b.options.goal = b.energy();
  CHECK(b.run().rows == 2);
  CHECK(b.sensor->shown > 0);
}

TEST_CASE("energy is measured of the finalists of a search for time, where that is wanted") {
  const tune::testing::scoped_environment wanted("LIBTUNE_METRICS", "energy");
  bench b;
  CHECK(b.run().rows == 1);
  for (const tune::trial& item : b.last) CHECK(tune::metric_value(item, "energy") > 0);
}

TEST_CASE("a goal that needs a sensor which is not there is an error before anything is tried") {
  const tune::testing::scoped_environment none("LIBTUNE_NVML", "/nowhere/libnvidia-ml.so");
  bench b;
  const tune::registered_energy_sensor broken(
      [](const tune::device&) -> std::shared_ptr<tune::energy_sensor> {
        throw tune::error("the cable is out");
      });
  b.options.goal = tune::tuning_goal{.constraints = {tune::at_most("power", 100)}};
  std::string text;
  try {
    b.run();
  } catch (const tune::error& failure) {
    text = failure.what();
  }
  CHECK(text ==
        "the goal is 'min time, power <= 100', and device 'fake device' has no energy sensor: the "
        "cable is out");
  CHECK(b.fake.calls(tune::testing::fake_call::launch) == 0);
  b.options.goal.reset();
  b.options.metrics.probes = {std::make_shared<tune::energy_probe>(b.fake.device(), quick)};
  CHECK(b.run().rows == 1);
}

TEST_CASE("counters that cannot be read are no failure of a search") {
  const tune::testing::scoped_environment wanted("LIBTUNE_METRICS", "counters");
  bench b;
  CHECK(b.run().rows == 1);
  const tune::testing::scoped_environment wrong("LIBTUNE_METRICS", "gold");
  CHECK_THROWS_AS(b.run(), tune::environment_error);
}

}  // namespace energy_search_test
