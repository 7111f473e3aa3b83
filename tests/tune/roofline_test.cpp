// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The limits that a device's bandwidth sets to trials whose measures declare their bytes.
#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <utility>

#include "libtune/measure/peaks.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/session.hpp"
#include "tests/tune/scale.hpp"

namespace roofline_test {

using namespace std::chrono_literals;
using sample::fastest;
using sample::scale_tuning;

// A copy of its 64 MiB takes so long that it reads and writes a byte in a nanosecond.
constexpr auto copy_time = std::chrono::nanoseconds(2 * (std::int64_t{64} << 20));

tune::context make_context(std::size_t cache_bytes = 0,
                           tune::device_kind kind = tune::device_kind::gpu) {
  tune::testing::fake_device_options options;
  options.kind = kind;
  options.times.copy = copy_time;
  options.limits.cache_bytes = cache_bytes;
  return sample::make_device(options).device().create_context();
}

struct listener final : tune::observer {
  void search_finished(const tune::search_finished_event& event) override { finished = event; }
  tune::search_finished_event finished;
};

/// Searches for the fastest scale, whose runs are said to need so many bytes.
struct search {
  explicit search(double bytes, tune::tuning_budget budget = {}, std::size_t cache_bytes = 0)
      : search(bytes, make_context(cache_bytes), std::move(budget)) {}
  search(double bytes, const tune::context& on, tune::tuning_budget budget = {}) : context(on) {
    tune::tuning_options options{.budget = std::move(budget), .strategy = "exhaustive"};
    options.observers = {hears};
    tune::tuning_session session(context, {"sample.roofline", 0, {}, context.device().info()},
                                 options);
    best = session.tune(sample::make_space(), [&](const scale_tuning& tuning) {
      return sample::generate(context, tuning).work({.bytes = bytes});
    });
  }
  const tune::trial& trial(const scale_tuning& of) const {
    const auto& all = hears->finished.trials;
    const auto found = std::ranges::find(all, tune::to_values(of), &tune::trial::configuration);
    REQUIRE(found != all.end());
    return *found;
  }

  std::shared_ptr<listener> hears = std::make_shared<listener>();
  tune::context context;
  scale_tuning best;
};

TEST_CASE("the peak of a device is that of a copy, which is made once for a context") {
  tune::testing::fake_device_options options;
  options.times.copy = copy_time;
  options.limits.cache_bytes = 1000;
  const auto fake = sample::make_device(options);
  const tune::context context = fake.device().create_context();
  const tune::device_peaks peaks = tune::peaks_of(context);
  CHECK(peaks.bytes_per_second == doctest::Approx(1e9));
  CHECK(peaks.least_bytes == 4000);
  const std::size_t copies = fake.calls(tune::testing::fake_call::copy);
  CHECK(copies > 0);
  CHECK(tune::peaks_of(context).bytes_per_second == peaks.bytes_per_second);
  CHECK(fake.calls(tune::testing::fake_call::copy) == copies);
}

TEST_CASE("trials have the part of the peak that they reach") {
  const search made(2000);
  CHECK(made.best == fastest);
  const tune::trial& winner = made.trial(fastest);
  CHECK(tune::metric_value(winner, "least_time") == doctest::Approx(2000));
  CHECK(tune::metric_value(winner, "of_peak") == doctest::Approx(100 * 2000 / 2010.0));
  CHECK(made.hears->finished.trials.size() == 6);
}

TEST_CASE("a trial that is faster than the device can be is refused") {
  const search made(5000);
  CHECK(made.best == scale_tuning{.wgs = 4, .rows = 1});
  const tune::trial& refused = made.trial(fastest);
  CHECK(refused.outcome == tune::outcome::invalid_time);
  CHECK_FALSE(refused.score);
  CHECK(refused.reason.find("5000 bytes") != std::string::npos);
}

TEST_CASE("a peak that was measured beside other work refuses no trial") {
  const tune::context context = make_context();
  context.attach(std::make_shared<const tune::device_peaks>(
      tune::device_peaks{.bytes_per_second = tune::peaks_of(context).bytes_per_second / 10}));
  const search made(2000, context);
  CHECK(made.best == fastest);
  CHECK(tune::metric_value(made.trial(fastest), "least_time") == doctest::Approx(2000));
  CHECK(tune::peaks_of(context).bytes_per_second == doctest::Approx(1e9));
}

TEST_CASE("a CPU, one thread of which copies, has no limit") {
  const search made(5000, make_context(0, tune::device_kind::cpu), {.within = 0.05});
  CHECK(made.best == fastest);
  CHECK(tune::find_metric(made.trial(fastest).metrics, "of_peak") == nullptr);
  CHECK(made.hears->finished.end == tune::search_end::complete);
}

TEST_CASE("a search ends with a trial that is near enough to the peak") {
  const search made(2000, {.within = 0.05});
  CHECK(made.best == fastest);
  CHECK(made.hears->finished.end == tune::search_end::target);
  CHECK(made.hears->finished.trials.size() < 6);
  const search never(1500, {.within = 0.05});
  CHECK(never.hears->finished.end == tune::search_end::complete);
}

TEST_CASE("what may stay in the cache has no limit") {
  const search made(5000, {.within = 0.05}, 4000);
  CHECK(made.best == fastest);
  CHECK(tune::find_metric(made.trial(fastest).metrics, "of_peak") == nullptr);
  CHECK(made.hears->finished.end == tune::search_end::complete);
}

}  // namespace roofline_test
