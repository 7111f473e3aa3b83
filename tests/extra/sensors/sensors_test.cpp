// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/sensors/energy_meter.hpp"
#include "libtune/extra/sensors/energy_sensor.hpp"
#include "libtune/extra/sensors/nvml.hpp"
#include "libtune/extra/sensors/rapl.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/extra/sensors/fake_nvml.hpp"

namespace sensors_test {

using namespace std::chrono_literals;
using tune::detail::nvml_device;
using seconds = std::chrono::duration<double>;

// ---- counting between edges

/// A sensor of 100 W that moves every 0.1 s, seen within 1 ms.
std::vector<tune::detail::sensor_edge> edges_of_100_watts(int count) {
  std::vector<tune::detail::sensor_edge> edges;
  for (int i = 0; i < count; ++i)
    edges.push_back({seconds(0.03 + 0.1 * i), seconds(5e-4), 10.0 * i});
  return edges;
}

TEST_CASE("energy and runs are counted from edge to edge, in between by the runs' own times") {
  const std::vector<tune::detail::run_mark> marks{
      {seconds(0), 0}, {seconds(0.2), 100}, {seconds(0.45), 225}};
  const auto edges = edges_of_100_watts(6);
  const auto counted = tune::detail::count_energy(edges, marks, seconds(0.05));
  REQUIRE(counted);
  // From 0.13 s to 0.43 s, 500 runs a second.
  CHECK(counted->joules == doctest::Approx(30));
  CHECK(counted->seconds == doctest::Approx(0.3));
  CHECK(counted->runs == doctest::Approx(150));
  CHECK(counted->uncertain_seconds == doctest::Approx(1e-3));
  CHECK(tune::detail::period_of(edges).count() == doctest::Approx(0.1));
}

TEST_CASE("nothing is counted where the sensor has not moved twice during the runs") {
  const std::vector<tune::detail::run_mark> marks{{seconds(0), 0}, {seconds(0.2), 100}};
  CHECK_FALSE(tune::detail::count_energy(edges_of_100_watts(6), marks, seconds(0.05)));
  CHECK_FALSE(tune::detail::count_energy({}, marks, seconds(0)));
  CHECK_FALSE(tune::detail::count_energy(edges_of_100_watts(6), {}, seconds(0)));
  CHECK(tune::detail::period_of(edges_of_100_watts(1)) == seconds(0));
}

// The part of the error that the sensor's steps and the readings make: a visit of 0.45 s to a load
// of 300 W, in any phase of a counter of that period, read after 0.5 ms and up to twice that.
TEST_CASE("counters of 20 and 100 ms repeat within 1 % in 0.45 s") {
  std::minstd_rand random(1);
  std::uniform_real_distribution<double> share(0, 1);
  for (const double period : {0.02, 0.1}) {
    const std::vector<tune::detail::run_mark> marks{{seconds(0), 0}, {seconds(0.45), 450}};
    for (int visit = 0; visit < 1000; ++visit) {
      const double phase = share(random);
      std::vector<tune::detail::sensor_edge> edges;
      double before = 0;
      double last = std::floor(phase);
      for (double now = 0; now < 0.45; now += 5e-4 * (1 + share(random))) {
        const double step = std::floor(now / period + phase);
        if (step != last) {
          edges.push_back(
              {seconds((before + now) / 2), seconds((now - before) / 2), 300 * period * step});
        }
        last = step;
        before = now;
      }
      const auto counted = tune::detail::count_energy(edges, marks, seconds(0.02 + period));
      REQUIRE(counted);
      CHECK(counted->joules / counted->runs == doctest::Approx(0.3).epsilon(0.01));
      CHECK(counted->uncertain_seconds / counted->seconds < 0.01);
    }
  }
}

// ---- measuring

/// Consumes 200 W in steps of a period. Each visit reads it in a thread of its own.
struct fake_sensor final : tune::energy_sensor {
  explicit fake_sensor(std::chrono::milliseconds steps) : period(steps) {}

  std::string name() const override { return "a fake sensor"; }
  double joules() override {
    thread_local bool is_known = false;
    visits += is_known ? 0 : 1;
    is_known = true;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return period == 0ms ? 1.0 : 200 * seconds(period).count() * static_cast<double>(now / period);
  }
  tune::device_state state() override {
    return {.clock_mhz = 1000,
            .temperature_c = 50,
            .throttled = visits >= hot_from && visits <= hot_to ? "heat" : ""};
  }

  std::chrono::milliseconds period;
  int visits = 0;
  int hot_from = 1'000'000;  // visits during which it is hot
  int hot_to = 1'000'000;
};

tune::energy_load load_of(std::chrono::microseconds run, int& runs) {
  return {[=, &runs](int count) {
            runs += count;
            std::this_thread::sleep_for(run * count);
            return true;
          },
          run};
}

constexpr tune::energy_settings quick{.time_each = 80ms, .visits = 2, .silence = 200ms};

TEST_CASE("the energy of a run is its share of the power, as exact as it says") {
  fake_sensor sensor(4ms);
  int runs = 0;
  const std::vector<tune::energy_load> loads{load_of(500us, runs), load_of(2000us, runs)};
  const auto results = tune::measure_energy(sensor, loads, quick);
  REQUIRE(results.size() == 2);
  for (const tune::energy_result& each : results) {
    CAPTURE(each.watts);
    CHECK(each.samples.size() == 2);
    CHECK(std::abs(each.watts - 200) <= 200 * each.uncertainty * 1.01 + 1e-6);
    CHECK(each.clock_mhz == doctest::Approx(1000));
    CHECK(each.temperature_c == doctest::Approx(50));
    CHECK(each.repeated == 0);
    CHECK(each.throttled.empty());
  }
  // A run takes no less than it sleeps.
  CHECK(results[0].joules >= 200 * 500e-6 * (1 - results[0].uncertainty) * 0.99);
  CHECK(results[1].joules > results[0].joules);
}

TEST_CASE("a visit during which the device throttles is repeated, and the result says why") {
  fake_sensor sensor(4ms);
  sensor.hot_from = sensor.hot_to = 2;  // the first finds the period
  int runs = 0;
  const std::vector<tune::energy_load> loads{load_of(500us, runs)};
  const auto results = tune::measure_energy(sensor, loads, quick);
  REQUIRE(results.size() == 1);
  CHECK(results[0].repeated == 1);
  CHECK(results[0].throttled == "heat");
  CHECK(results[0].samples.size() == 2);
  CHECK(sensor.visits == 4);
}

TEST_CASE("a device that throttles for ever is measured all the same, and said to throttle") {
  fake_sensor sensor(4ms);
  sensor.hot_from = 0;
  int runs = 0;
  const std::vector<tune::energy_load> loads{load_of(500us, runs)};
  const auto results = tune::measure_energy(sensor, loads, quick);
  CHECK(results[0].repeated == 4);
  CHECK(results[0].throttled == "heat");
  CHECK(results[0].joules > 0);
}

TEST_CASE("a clock that falls is a throttle, except at the power limit") {
  using tune::detail::why_throttled;
  const std::vector<tune::device_state> steady{{.clock_mhz = 1980}, {.clock_mhz = 1965}};
  CHECK(why_throttled(steady).empty());
  std::vector<tune::device_state> falling{{.clock_mhz = 1980}, {.clock_mhz = 1600}};
  CHECK(why_throttled(falling) == "its clock fell");
  falling[1].power_capped = true;
  CHECK(why_throttled(falling).empty());
  falling[0].throttled = "heat (driver)";
  CHECK(why_throttled(falling) == "heat (driver)");
  CHECK(why_throttled({}).empty());
}

TEST_CASE("a sensor that never moves is an error that names it") {
  fake_sensor sensor(0ms);
  int runs = 0;
  const std::vector<tune::energy_load> loads{load_of(500us, runs)};
  std::string text;
  try {
    tune::measure_energy(sensor, loads, quick);
  } catch (const tune::error& failure) {
    text = failure.what();
  }
  CHECK(text.find("a fake sensor showed no new value") == 0);
}

TEST_CASE("runs that fail leave no figures, and the others have theirs") {
  fake_sensor sensor(4ms);
  int runs = 0;
  const std::vector<tune::energy_load> loads{{[](int) { return false; }, tune::run_time(1e5)},
                                             load_of(500us, runs)};
  const auto results = tune::measure_energy(sensor, loads, quick);
  CHECK(std::isnan(results[0].joules));
  CHECK(results[0].samples.empty());
  CHECK(results[1].joules > 0);
}

// ---- NVML

TEST_CASE("NVML's GPU is the one with the PCI address or the UUID of the device") {
  fake_nvml::workbench gpu;
  CHECK_NOTHROW(nvml_device{gpu.info()});
  tune::device_info by_uuid = gpu.info();
  by_uuid.hardware = {.pci_address = "", .uuid = fake_nvml::uuid};
  CHECK_NOTHROW(nvml_device{by_uuid});
  tune::device_info unknown = gpu.info();
  unknown.hardware.pci_address = "0000:ff:00.0";
  CHECK_THROWS_WITH_AS(nvml_device{unknown},
                       "NVIDIA's management library does not know device 'GPU One' (PCI address "
                       "'0000:ff:00.0', UUID ''): Not Found",
                       tune::error);
}

TEST_CASE("NVML's counter is read in joules, the state in megahertz and words") {
  fake_nvml::workbench gpu;
  const nvml_device device(gpu.info());
  const auto joules = device.counted_joules();
  REQUIRE(joules);
  CHECK(*joules > 0);
  CHECK(device.watts() == doctest::Approx(300));
  gpu->reasons = 0x4 | 0x20 | 0x80;
  const tune::device_state state = device.state();
  CHECK(state.clock_mhz == 1980);
  CHECK(state.temperature_c == 40);
  CHECK(state.throttled == "heat (driver), power brake");
  CHECK(state.power_capped);
  const tune::supported_settings offered = device.supported();
  CHECK(offered.graphics_clocks_mhz == std::vector{1980, 1200, 345});
  CHECK(offered.memory_clocks_mhz == std::vector{3201, 1593});
  CHECK(offered.least_power_limit_w == doctest::Approx(200));
  CHECK(offered.most_power_limit_w == doctest::Approx(700));
}

TEST_CASE("where NVML has no counter the power is integrated") {
  fake_nvml::workbench gpu;
  gpu->period_ms = 0;
  const auto sensor = tune::detail::make_nvml_sensor(gpu.info());
  CHECK(sensor->name() == "NVML's power, integrated");
  CHECK(sensor->joules() == 0);
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(2ms);
  const double joules = sensor->joules();
  const seconds most = std::chrono::steady_clock::now() - begin + 1ms;
  CHECK(joules >= 300 * 2e-3);
  CHECK(joules <= 300 * most.count() + 1);
}

TEST_CASE("a device without NVML has no sensor, for a reason") {
  const tune::testing::scoped_environment none("LIBTUNE_NVML", "/nowhere/libnvidia-ml.so");
  const tune::testing::fake_device fake({.hardware = {.pci_address = fake_nvml::address}});
  const auto found = tune::find_energy_sensor(fake.device());
  CHECK(found.sensor == nullptr);
  CHECK(found.absence.find("NVIDIA's management library cannot be loaded (/nowhere") == 0);
}

TEST_CASE("a registered sensor is asked first, and no longer than it is registered") {
  fake_nvml::workbench gpu;
  const tune::testing::fake_device fake({.hardware = {.pci_address = fake_nvml::address}});
  {
    const tune::registered_energy_sensor mine(
        [](const tune::device&) { return std::make_shared<fake_sensor>(1ms); });
    CHECK(tune::find_energy_sensor(fake.device()).sensor->name() == "a fake sensor");
    const tune::registered_energy_sensor later([](const tune::device&) { return nullptr; });
    CHECK(tune::find_energy_sensor(fake.device()).sensor->name() == "a fake sensor");
  }
  CHECK(tune::find_energy_sensor(fake.device()).sensor->name() == "NVML's energy counter");
  CHECK_THROWS_AS(tune::registered_energy_sensor{{}}, tune::argument_error);
}

// ---- RAPL

/// A powercap tree.
struct powercap {
  tune::testing::temporary_directory folder;

  void put(const std::string& zone, const std::string& name, unsigned long long microjoules,
           unsigned long long range = 262'143'328'850) const {
    const auto path = folder / zone;
    std::filesystem::create_directories(path);
    std::ofstream(path / "name") << name << '\n';
    std::ofstream(path / "energy_uj") << microjoules << '\n';
    std::ofstream(path / "max_energy_range_uj") << range << '\n';
  }
  auto sensor() const { return tune::detail::make_rapl_sensor(folder.path().string()); }
};

TEST_CASE("RAPL adds up packages and memory, and nothing that these contain") {
  const powercap tree;
  tree.put("intel-rapl:0", "package-0", 1'000'000);
  tree.put("intel-rapl:0:0", "core", 500'000);
  tree.put("intel-rapl:0:1", "dram", 100'000);
  tree.put("intel-rapl:1", "package-1", 2'000'000);
  tree.put("intel-rapl:2", "psys", 9'000'000);
  tree.put("intel-rapl-mmio:0", "package-0", 1'000'000);
  const auto sensor = tree.sensor();
  CHECK(sensor->joules() == 0);
  tree.put("intel-rapl:0", "package-0", 1'500'000);
  tree.put("intel-rapl:0:0", "core", 900'000);
  tree.put("intel-rapl:0:1", "dram", 200'000);
  tree.put("intel-rapl:1", "package-1", 2'250'000);
  tree.put("intel-rapl:2", "psys", 99'000'000);
  tree.put("intel-rapl-mmio:0", "package-0", 1'500'000);
  CHECK(sensor->joules() == doctest::Approx(0.85));
}

TEST_CASE("RAPL's counters may wrap around, again and again") {
  const powercap tree;
  tree.put("intel-rapl:0", "package-0", 900'000, 1'000'000);
  const auto sensor = tree.sensor();
  tree.put("intel-rapl:0", "package-0", 100'000, 1'000'000);
  CHECK(sensor->joules() == doctest::Approx(0.2));
  tree.put("intel-rapl:0", "package-0", 50'000, 1'000'000);
  CHECK(sensor->joules() == doctest::Approx(1.15));
}

TEST_CASE("a machine without RAPL, or without the right to read it, gets the reason") {
  const powercap tree;
  CHECK_THROWS_AS(tree.sensor(), tune::error);
  std::filesystem::create_directories(tree.folder / "intel-rapl:0");
  std::ofstream(tree.folder / "intel-rapl:0" / "name") << "package-0\n";
  std::string text;
  try {
    tree.sensor();
  } catch (const tune::error& failure) {
    text = failure.what();
  }
  CHECK(text.find("only the superuser may") != std::string::npos);
}

}  // namespace sensors_test
