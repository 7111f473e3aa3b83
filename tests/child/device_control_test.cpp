// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Clocks and power limits as a part of configurations, with a stand-in for NVIDIA's library: they
// are restored however a search ends, a killed child included.
#include "libtune/extra/sensors/device_control.hpp"

#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/device/devices.hpp"
#include "libtune/extra/sensors/energy_sensor.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/observer.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/extra/sensors/fake_nvml.hpp"
#include "tests/tune/scale.hpp"

namespace device_control_test {

using tune::outcome;
using tune::detail::device_control;

struct clocked_key {
  bool killed = false;  ///< the child that has set the clock, at configuration 2
};
struct clocked_tuning {
  int clock = 0;
};

}  // namespace device_control_test

LIBTUNE_FIELDS(device_control_test::clocked_key, killed)
LIBTUNE_FIELDS(device_control_test::clocked_tuning, clock)

namespace device_control_test {

// There is no GPU here, so the clock is that of the stand-in, whatever the device.
const tune::autotuner<clocked_key, clocked_tuning> clocked_autotune{
    {.name = "clocked"}, [](tune::tuning_session& session, const clocked_key& key) {
      tune::space<clocked_tuning> space;
      space.add(&clocked_tuning::clock, {1980, 1200, 345});
      return session.tune(space, [&](const clocked_tuning& tuning) {
        return tune::make_measure([=](int) {
          device_control::shared().set(fake_nvml::workbench::info(),
                                       {.graphics_clock_mhz = tuning.clock});
          if (key.killed && tuning.clock == 1200) ::raise(SIGKILL);
          return 1.0 / tuning.clock;
        });
      });
    }};

/// A hundred watts, in every process of this program.
struct even_sensor final : tune::energy_sensor {
  std::string name() const override { return "an even sensor"; }
  double joules() override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return 0.2 * static_cast<double>(now / std::chrono::milliseconds(2));
  }
};
const tune::registered_energy_sensor even([](const tune::device&) {
  return std::make_shared<even_sensor>();
});

// The second configuration is the slower one by its own timer, and runs in half of the time.
const tune::autotuner<clocked_key, clocked_tuning> frugal_autotune{
    {.name = "frugal"}, [](tune::tuning_session& session, const clocked_key&) {
      tune::space<clocked_tuning> space;
      space.add(&clocked_tuning::clock, {1, 2});
      return session.tune(space, [](const clocked_tuning& tuning) {
        return tune::make_measure([=](int runs) {
          std::this_thread::sleep_for(runs * std::chrono::microseconds(4000 / tuning.clock));
          return 1e-3 * (1 + 0.1 * tuning.clock);
        });
      });
    }};

/// A search of a fake GPU that the stand-in knows.
struct fake_search {
  tune::testing::fake_device fake = [] {
    tune::testing::fake_device_options options;
    options.hardware.pci_address = fake_nvml::address;
    return sample::make_device(options);
  }();
  tune::context context = fake.device().create_context();
  std::vector<tune::trial> trials{};

  struct collector final : tune::observer {
    explicit collector(std::vector<tune::trial>& to) : kept(to) {}
    void trial_finished(const tune::tuning_subject&, const tune::trial& done) override {
      kept.push_back(done);
    }
    std::vector<tune::trial>& kept;
  };

  sample::scale_tuning run(
      const std::function<tune::device_settings(const sample::scale_tuning&)>& settings) {
    tune::tuning_options options;
    options.observers = {std::make_shared<collector>(trials)};
    tune::tuning_subject subject{};
    subject.function = "clocked";
    subject.device = fake.device().info();
    tune::tuning_session session(context, subject, options);
    return session.tune(sample::make_space(), [&](const sample::scale_tuning& tuning) {
      return sample::generate(context, tuning).at(settings(tuning));
    });
  }
};

TEST_CASE("a configuration runs at its clocks and below its power limit, the next one at its own") {
  fake_nvml::workbench gpu;
  fake_search search;
  search.fake.add_kernel("scale", 2, [&](tune::testing::fake_launch& launch) {
    const auto rows = static_cast<unsigned>(launch.integer("rows"));
    CHECK(gpu->graphics_clock == (rows == 2 ? 1200 : 0));
    CHECK(gpu->memory_clock == (rows == 2 ? 1593 : 0));
    CHECK(gpu->power_limit_mw == (rows == 2 ? 350'000 : 700'000));
  });
  const auto best = search.run([](const sample::scale_tuning& tuning) -> tune::device_settings {
    if (tuning.rows != 2) return {};
    return {.graphics_clock_mhz = 1200, .memory_clock_mhz = 1593, .power_limit_w = 350};
  });
  CHECK(best == sample::scale_tuning{.wgs = 2, .rows = 1});
  CHECK(gpu->changes > 0);
  CHECK(gpu->graphics_clock == 0);
  CHECK(gpu->memory_clock == 0);
  CHECK(gpu->power_limit_mw == 700'000);
}

TEST_CASE("a search that sets nothing does not open NVIDIA's library") {
  const tune::testing::scoped_environment none("LIBTUNE_NVML", "/nowhere");
  fake_search search;
  CHECK(search.run([](const auto&) { return tune::device_settings{}; }).wgs == 2);
}

TEST_CASE(
    "configurations whose settings are refused are skipped, with the reason, and the rest is "
    "searched") {
  fake_nvml::workbench gpu;
  gpu->settings_status = 4;
  fake_search search;
  const auto best = search.run([](const sample::scale_tuning& tuning) -> tune::device_settings {
    return {.graphics_clock_mhz = tuning.rows == 1 ? 1200 : 0};
  });
  CHECK(best == sample::scale_tuning{.wgs = 2, .rows = 2});
  int skipped = 0;
  for (const tune::trial& item : search.trials) {
    if (item.outcome != outcome::skipped) continue;
    ++skipped;
    CHECK(item.reason ==
          "locking the graphics clock on device 'fake device': Insufficient Permissions; ask an "
          "administrator, or run as one (in a container: with CAP_SYS_ADMIN)");
  }
  CHECK(skipped == 3);
  CHECK(gpu->changes == 0);
}

TEST_CASE(
    "a power limit that the device does not have is refused, and what was set before it is "
    "restored") {
  fake_nvml::workbench gpu;
  fake_search search;
  search.run([](const sample::scale_tuning& tuning) -> tune::device_settings {
    if (tuning.rows == 1) return {};
    return {.graphics_clock_mhz = 1200, .power_limit_w = 5};
  });
  CHECK(search.trials.size() >= 6);
  CHECK(gpu->graphics_clock == 0);
  CHECK(gpu->power_limit_mw == 700'000);
}

TEST_CASE("clocks that somebody else has locked are left alone") {
  fake_nvml::workbench gpu;
  gpu->graphics_clock = 1500;
  gpu->reasons = 0x2;
  fake_search search;
  const auto best = search.run([](const sample::scale_tuning& tuning) -> tune::device_settings {
    return {.graphics_clock_mhz = tuning.rows == 1 ? 1200 : 0};
  });
  CHECK(best.rows == 2);
  CHECK(gpu->graphics_clock == 1500);
  CHECK(gpu->changes == 0);
}

TEST_CASE("settings are restored where a search ends with an exception") {
  fake_nvml::workbench gpu;
  fake_search search;
  search.fake.add_kernel("scale", 2, [&](tune::testing::fake_launch&) {
    CHECK(gpu->graphics_clock == 1200);
    throw std::runtime_error("not today");
  });
  CHECK_THROWS_AS(
      search.run([](const auto&) -> tune::device_settings { return {.graphics_clock_mhz = 1200}; }),
      tune::tuning_failed_error);
  CHECK(gpu->changes >= 2);
  CHECK(gpu->graphics_clock == 0);
}

TEST_CASE("what a killed process has set, another one restores by its record, once") {
  fake_nvml::workbench gpu;
  const ::pid_t child = ::fork();
  if (child == 0) {
    device_control::shared().set(fake_nvml::workbench::info(),
                                 {.graphics_clock_mhz = 1200, .power_limit_w = 400});
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(gpu->graphics_clock == 1200);
  CHECK(gpu->power_limit_mw == 400'000);
  device_control::shared().restore_left_behind();
  CHECK(gpu->graphics_clock == 0);
  CHECK(gpu->power_limit_mw == 700'000);
  gpu->graphics_clock = 999;  // by an administrator
  device_control::shared().restore_left_behind();
  CHECK(gpu->graphics_clock == 999);
}

TEST_CASE("what a process has set that still runs is left to it, and not set by another one") {
  fake_nvml::workbench gpu;
  int begun[2];
  int go_on[2];
  REQUIRE(::pipe(begun) == 0);
  REQUIRE(::pipe(go_on) == 0);
  char byte = 0;
  const ::pid_t child = ::fork();
  if (child == 0) {
    device_control::shared().set(fake_nvml::workbench::info(), {.graphics_clock_mhz = 1200});
    static_cast<void>(!::write(begun[1], &byte, 1));
    static_cast<void>(!::read(go_on[0], &byte, 1));
    device_control::shared().restore(fake_nvml::workbench::info());
    ::_exit(0);
  }
  REQUIRE(::read(begun[0], &byte, 1) == 1);
  device_control::shared().restore_left_behind();
  CHECK(gpu->graphics_clock == 1200);
  CHECK_THROWS_AS(
      device_control::shared().set(fake_nvml::workbench::info(), {.graphics_clock_mhz = 345}),
      tune::error);
  CHECK(gpu->graphics_clock == 1200);
  REQUIRE(::write(go_on[1], &byte, 1) == 1);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(gpu->graphics_clock == 0);
  for (const int file : {begun[0], begun[1], go_on[0], go_on[1]}) ::close(file);
}

LIBTUNE_DEVICE_TEST_CASE("the parent restores what a killed child has set", device) {
  const tune::testing::test_mode_guard application{tune::testing::test_mode::off};
  const tune::testing::temporary_directory folder;
  fake_nvml::workbench gpu;
  const auto options = isolated::isolated_options((folder / "tuning.db").string());
  const auto context = device.create_context();
  CHECK(clocked_autotune(context, {.killed = true}, options).clock == 1980);
  CHECK(gpu->changes >= 4);
  CHECK(gpu->graphics_clock == 0);
}

LIBTUNE_DEVICE_TEST_CASE("nothing stays set after a search in a child", device) {
  const tune::testing::test_mode_guard application{tune::testing::test_mode::off};
  const tune::testing::temporary_directory folder;
  fake_nvml::workbench gpu;
  const auto options = isolated::isolated_options((folder / "tuning.db").string());
  CHECK(clocked_autotune(device.create_context(), {}, options).clock == 1980);
  CHECK(gpu->changes >= 4);
  CHECK(gpu->graphics_clock == 0);
}

struct end_collector final : tune::observer {
  explicit end_collector(std::vector<tune::trial>& to) : kept(to) {}
  void search_finished(const tune::search_finished_event& event) override { kept = event.trials; }
  std::vector<tune::trial>& kept;
};

LIBTUNE_DEVICE_TEST_CASE("energy that a child has measured decides, and arrives in the parent",
                         device) {
  const tune::testing::test_mode_guard application{tune::testing::test_mode::off};
  const tune::testing::temporary_directory folder;
  auto options = isolated::isolated_options((folder / "tuning.db").string());
  std::vector<tune::trial> trials;
  options.observers = {std::make_shared<end_collector>(trials)};
  options.goal = tune::tuning_goal{.objectives = {tune::minimise("energy")}};
  CHECK(frugal_autotune(device.create_context(), {}, options).clock == 2);
  REQUIRE(trials.size() == 2);
  for (const tune::trial& item : trials) {
    CHECK(tune::metric_value(item, "energy") > 0);
    const double uncertainty = tune::metric_value(item, "energy_uncertainty") / 100;
    CHECK(tune::metric_value(item, "power") == doctest::Approx(100).epsilon(uncertainty + 0.01));
  }
  options.goal.reset();
  CHECK(frugal_autotune(device.create_context(), {}, options).clock == 1);
}

}  // namespace device_control_test
