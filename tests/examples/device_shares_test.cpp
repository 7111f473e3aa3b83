// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/device-shares.md.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "examples/guide/guide.hpp"
#include "libtune/extra/deadline.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace device_shares_test {

// clang-format off
// [key]
struct engine_key {
  std::int64_t columns = 4096;
  std::string beside{};  // the load on the rest of the device; empty: none
};
// [key]
// clang-format on
struct engine_tuning {
  std::size_t wgs = 64;
};

}  // namespace device_shares_test

LIBTUNE_FIELDS(device_shares_test::engine_key, columns, beside)
LIBTUNE_FIELDS(device_shares_test::engine_tuning, wgs)

namespace device_shares_test {

constexpr std::size_t rows = 8;

/// An engine of a pipeline: one operation on a queue of its own.
class engine {
 public:
  engine(const tune::context& context, std::size_t columns, const engine_tuning& tuning)
      : queue_(context.create_command_queue()),
        program_(tune::compile(context, guide::source, tune::defines(tuning))),
        gain_(queue_, program_, tuning.wgs, rows, tune::dimension(columns, {.round = tuning.wgs})) {
    gain_.ensure_all_bound();
  }
  void enqueue() {
    gain_();
    queue_.flush();
  }
  void wait() { queue_.finish(); }

 private:
  tune::command_queue queue_;
  tune::program program_;
  guide::gain gain_;
};

const tune::autotuner<engine_key, engine_tuning> autotune{
    {.name = "shares.engine", .version = 0, .test = {.wgs = 64}},
    [](tune::tuning_session& session, const engine_key& key) {
      auto queue = session.context().create_tuning_command_queue();
      tune::space<engine_tuning> space;
      space.add(&engine_tuning::wgs, {64, 128});
      return session.tune(space, [&](const engine_tuning& tuning) {
        const auto columns = static_cast<std::size_t>(key.columns);
        guide::gain op(queue,
                       tune::compile(session.context(), guide::source, tune::defines(tuning)),
                       tuning.wgs, rows, tune::dimension(columns, {.round = tuning.wgs}));
        op.ensure_all_bound();
        return tune::make_measure(queue, std::move(op));
      });
    }};

/// Half of the compute units of a device that can be divided; else the test case is skipped.
std::optional<std::size_t> half_of(const tune::device& device) {
  const std::size_t half = device.limits().compute_units / 2;
  try {
    if (half > 0) {
      static_cast<void>(device.divide({half}));
      return half;
    }
    tune::testing::skip("a single compute unit cannot be divided");
  } catch (const tune::device_error& refusal) {
    tune::testing::skip(refusal.what());
  }
  return std::nullopt;
}

struct listener final : tune::observer {
  void search_started(const tune::search_started_event& event) override {
    units.push_back(event.subject.device.limits.compute_units);
  }
  std::vector<std::size_t> units;
};

/// A database of this test case, and tuning as in an application.
struct application {
  tune::testing::test_mode_guard mode{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  tune::testing::scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  std::shared_ptr<listener> heard = std::make_shared<listener>();
  tune::tuning_options options;

  application() {
    options.database = (folder / "tuning.db").string();
    options.isolation = tune::isolation_mode::off;
    options.observers = {heard};
  }
};

LIBTUNE_DEVICE_TEST_CASE("each share has its own results, also beside a load", device) {
  const auto found = half_of(device);
  if (!found) return;
  const std::size_t units = *found;
  application app;
  // clang-format off
  // [divide]
  const std::vector<tune::device> parts = device.divide({units});  // and the rest
  const tune::context correlating = parts.at(0).create_context();
  const tune::context beamforming = parts.at(1).create_context();
  // [divide]
  // clang-format on
  const tune::context whole = device.create_context();
  for (const tune::context& each : {correlating, beamforming, whole}) {
    tune::set_tuning_options(each, app.options);
  }
  CHECK(autotune(whole).wgs >= 64);
  CHECK(autotune(correlating).wgs >= 64);
  CHECK(app.heard->units ==
        std::vector<std::size_t>{device.limits().compute_units, parts[0].limits().compute_units});
  static_cast<void>(autotune(correlating));
  static_cast<void>(autotune(device.divide({units}).front().create_context(), {}, app.options));
  CHECK_MESSAGE(app.heard->units.size() == 2, "the results are looked up");
  engine beamformer(beamforming, 4096, {});
  // clang-format off
  // [beside]
  const std::string load_name = fmt::format("beamformer on {}", parts.at(1).limits().compute_units);
  const tune::background_load load([&] {
    beamformer.enqueue();
    beamformer.wait();
  });
  const engine_tuning tuned = autotune(correlating, {.beside = load_name});
  load.check();  // throws if the load has failed
  // [beside]
  // clang-format on
  CHECK(tuned.wgs >= 64);
  CHECK(app.heard->units.size() == 3);
  CHECK(load.steps() > 1);
}

// clang-format off
// [receiver]
/// Two engines that share a device by a knob.
class receiver final : public tune::tuned_pipeline {
 public:
  receiver(const tune::context& whole, const tune::configuration& knobs) {
    const auto units = static_cast<std::size_t>(knobs["correlator_units"]);
    std::vector<tune::device> parts = whole.device().divide({units});
    if (parts.size() == 1) parts = {whole.device(), whole.device()};  // both on the whole device
    for (const tune::device& part : parts) {
      const tune::context context = part.create_context();
      tune::set_tuning_options(context, *tune::tuning_options_of(whole));
      engines_.emplace_back(context, columns, autotune(context, {.columns = columns}));
    }
  }
// [receiver]
  // clang-format on
  tune::frame_record run(const tune::pipeline_load& load) override {
    using clock = std::chrono::steady_clock;
    using seconds = tune::frame_record::seconds;
    tune::frame_record record;
    const auto start = clock::now();
    double frames = 0;
    for (;; ++frames) {  // at least one, however busy the machine is
      const seconds ready = load.rate > 0 ? seconds((frames + 1) * columns / load.rate)
                                          : seconds(clock::now() - start);
      if (frames > 0 && ready > load.duration) break;
      std::this_thread::sleep_until(start +
                                    std::chrono::duration_cast<std::chrono::nanoseconds>(ready));
      for (engine& each : engines_) each.enqueue();
      for (engine& each : engines_) each.wait();
      record.add(ready, clock::now() - start);
    }
    record.finish(frames * columns, clock::now() - start);
    return record;
  }

 private:
  static constexpr int columns = 4096;

  std::list<engine> engines_;
};

LIBTUNE_DEVICE_TEST_CASE("the share of an engine is a knob of the pipeline", device) {
  const auto found = half_of(device);
  if (!found) return;
  const auto half = static_cast<std::int64_t>(*found);
  application app;
  const tune::context context = device.create_context();
  tune::set_tuning_options(context, app.options);
  tune::pipeline_options options{.contest = {.budget = std::chrono::milliseconds(300)}};
  options.kernels = tune::kernel_turns::never;
  std::size_t runs = 0;
  options.listener = [&](const tune::pipeline_run& run) { runs += run.record != nullptr ? 1 : 0; };
  // clang-format off
  // [knobs]
  const auto all = static_cast<std::int64_t>(device.limits().compute_units);
  tune::pipeline_space knobs({.name = "shares.receiver", .key = {{"antennas", 64}}});
  knobs.knob("correlator_units", {all, half});  // the first one is set by hand
  const tune::tuned_knobs tuned = tune::tune_pipeline(
      context, knobs, {.deadline = std::chrono::seconds(10), .late = 0.1},
      [&](const tune::configuration& with) { return std::make_unique<receiver>(context, with); },
      options);
  // [knobs]
  // clang-format on
  CHECK(runs >= 2);
  const std::int64_t chosen = tuned.knobs["correlator_units"];
  CHECK((chosen == all || chosen == half));
}

}  // namespace device_shares_test
