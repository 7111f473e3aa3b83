// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The limits that a device's peaks set to trials whose measures declare their work.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libtune/base/library_version.hpp"
#include "libtune/measure/peaks.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/session.hpp"
#include "tests/tune/scale.hpp"

namespace roofline_test {

using namespace std::chrono_literals;
using sample::fastest;
using sample::scale_tuning;

// A copy of its largest buffer takes so long that it reads and writes a byte in a nanosecond.
constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr auto copy_time = std::chrono::nanoseconds(2 * std::int64_t{buffer_bytes});

std::chrono::nanoseconds scale_time(const tune::testing::fake_launch& launch) {
  return std::chrono::nanoseconds(1000 * launch.integer("wgs") + 10 * launch.integer("rows"));
}

/// A device whose chains of multiply-adds do 10^13 operations in a second, and whose streams
/// through memory copy two bytes in a nanosecond.
void add_chains(const tune::testing::fake_device& to) {
  for (const char* name : {"chains", "wide_chains"}) {
    to.add_kernel(name, 4, [](tune::testing::fake_launch&) {});
  }
  for (const char* name : {"stream_copy", "stream_sum"}) {
    to.add_kernel(name, 3, [](tune::testing::fake_launch&) {});
  }
  to.set_time([](const tune::testing::fake_launch& launch) {
    if (launch.kernel() == "stream_copy") return copy_time / 2;
    if (launch.kernel() == "stream_sum") return copy_time;
    if (launch.kernel().find("chains") == std::string::npos) return scale_time(launch);
    const double each = 2.0 * 8 * 16 * launch.argument<int>(3);
    const double all = each * static_cast<double>(launch.range().global.total());
    return std::chrono::nanoseconds(std::llround(all / 10'000));
  });
}

/// Keeps peaks in memory, and counts what is asked.
struct remembering final : tune::peak_store {
  std::optional<double> find(std::string_view of) override {
    ++asked;
    const auto found = rates.find(of);
    return found == rates.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(std::string_view of, double rate) override { rates[std::string(of)] = rate; }
  std::map<std::string, double, std::less<>> rates;
  int asked = 0;
};

tune::context make_context(std::size_t cache_bytes = 0,
                           tune::device_kind kind = tune::device_kind::gpu) {
  tune::testing::fake_device_options options;
  options.kind = kind;
  options.times.copy = copy_time;
  options.limits.max_allocation_bytes = buffer_bytes;
  options.limits.cache_bytes = cache_bytes;
  const auto fake = sample::make_device(options);
  add_chains(fake);
  return fake.device().create_context();
}

struct listener final : tune::observer {
  void search_finished(const tune::search_finished_event& event) override { finished = event; }
  tune::search_finished_event finished;
};

/// Searches for the fastest scale, whose runs are said to do this work.
struct search {
  explicit search(tune::declared_work work, tune::tuning_budget budget = {},
                  std::size_t cache_bytes = 0)
      : search(work, make_context(cache_bytes), std::move(budget)) {}
  search(tune::declared_work work, const tune::context& on, tune::tuning_budget budget = {},
         const std::string& peaks = {})
      : context(on) {
    tune::tuning_options options{.budget = std::move(budget), .strategy = "exhaustive"};
    options.observers = {hears};
    tune::tuning_session session(
        tune::detail::session_setup{.context = context,
                                    .subject = {"sample.roofline", 0, {}, context.device().info()},
                                    .options = options,
                                    .peaks = peaks});
    best = session.tune(sample::make_space(), [&](const scale_tuning& tuning) {
      return sample::generate(context, tuning).work(work);
    });
  }
  double winner(const char* metric) const { return tune::metric_value(trial(fastest), metric); }
  bool has(const char* metric) const {
    return tune::find_metric(trial(fastest).metrics, metric) != nullptr;
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
  options.limits.max_allocation_bytes = buffer_bytes;
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
  const search made({.bytes = 2000});
  CHECK(made.best == fastest);
  CHECK(made.winner("least_time") == doctest::Approx(2000));
  CHECK(made.winner("of_peak") == doctest::Approx(100 * 2000 / 2010.0));
  CHECK(made.winner("of_bandwidth") == doctest::Approx(100 * 2000 / 2010.0));
  CHECK(made.winner("peak_gbs") == doctest::Approx(1));
  CHECK_FALSE(made.has("of_arithmetic"));
  CHECK(made.hears->finished.trials.size() == 6);
}

TEST_CASE("the longer one of the times of memory and arithmetic is the least time") {
  const tune::declared_work much{
      .flops = 2e7, .bytes = 1000, .arithmetic = tune::arithmetic::float32};
  const search made(much, {.within = 0.05});
  CHECK(made.winner("peak_gflops") == doctest::Approx(10'000).epsilon(0.001));
  CHECK(made.winner("least_time") == doctest::Approx(2000).epsilon(0.001));
  CHECK(made.winner("of_arithmetic") == doctest::Approx(100 * 2000 / 2010.0).epsilon(0.001));
  CHECK(made.winner("of_bandwidth") == doctest::Approx(100 * 1000 / 2010.0));
  CHECK(made.winner("of_peak") == doctest::Approx(made.winner("of_arithmetic")));
  CHECK(made.hears->finished.end == tune::search_end::target);
  const search by_memory({.flops = 1e7, .bytes = 2000, .arithmetic = tune::arithmetic::float32});
  CHECK(by_memory.winner("of_peak") == doctest::Approx(by_memory.winner("of_bandwidth")));
}

TEST_CASE("operations of undeclared arithmetic, and few of them, are compared with no peak") {
  const search undeclared({.flops = 2e7, .bytes = 1000});
  CHECK(undeclared.has("gflops"));
  CHECK_FALSE(undeclared.has("peak_gflops"));
  CHECK(undeclared.winner("of_peak") == doctest::Approx(undeclared.winner("of_bandwidth")));
  const search brief({.flops = 9e6, .arithmetic = tune::arithmetic::float32});
  CHECK_FALSE(brief.has("of_peak"));
  const search absent({.flops = 2e7, .arithmetic = tune::arithmetic::tensor_int8});
  CHECK_FALSE(absent.has("of_peak"));
}

TEST_CASE("a trial that is faster than the device can be is refused") {
  const search made({.bytes = 5000});
  CHECK(made.best == scale_tuning{.wgs = 4, .rows = 1});
  const tune::trial& refused = made.trial(fastest);
  CHECK(refused.outcome == tune::outcome::invalid_time);
  CHECK_FALSE(refused.score);
  CHECK(refused.reason.find("5000 bytes") != std::string::npos);
  const search calculated({.flops = 5e7, .arithmetic = tune::arithmetic::float32});
  CHECK(calculated.best == scale_tuning{.wgs = 4, .rows = 1});
  CHECK(calculated.trial(fastest).reason.find("5e+07 operations, for which the device's "
                                              "arithmetic") != std::string::npos);
}

TEST_CASE("a peak that was measured beside other work refuses no trial") {
  const tune::context context = make_context();
  remembering slow;
  slow.rates["memory"] = 1e8;
  CHECK(tune::peaks_of(context, {.kept = &slow}).bytes_per_second == 1e8);
  const search made({.bytes = 2000}, context);
  CHECK(made.best == fastest);
  CHECK(made.winner("least_time") == doctest::Approx(2000));
  CHECK(tune::peaks_of(context).bytes_per_second == doctest::Approx(1e9));
}

TEST_CASE("a peak is read before it is measured, and kept once it is measured") {
  const tune::wanted_peaks by_floats{.memory = false, .by = tune::arithmetic::float32};
  remembering kept;
  auto wanted = by_floats;
  wanted.kept = &kept;
  const double measured = tune::peaks_of(make_context(), wanted).operations_per_second;
  CHECK(measured == doctest::Approx(1e13).epsilon(0.001));
  CHECK(kept.rates == decltype(kept.rates){{"float32", measured}});
  kept.rates["float32"] = 2e13;
  const tune::context other = make_context();
  CHECK(tune::peaks_of(other, wanted).operations_per_second == 2e13);
  CHECK(tune::peaks_of(other, wanted).operations_per_second == 2e13);
  CHECK(kept.asked == 2);  // a context asks once
  CHECK(tune::peaks_of(other, {.memory = false}).bytes_per_second == 0);
  CHECK(kept.rates.size() == 1);
}

TEST_CASE("searches keep peaks in the database, for the device, the driver and this libtune") {
  const tune::testing::temporary_directory folder;
  const std::string path = folder.path() / "tuning.db";
  const search first({.bytes = 2000}, make_context(), {}, path);
  CHECK(first.has("of_peak"));
  const tune::device_identity device = first.context.device().identity();
  tune::tuning_database database(path);
  const tune::peak_identity memory{device, std::string(tune::library_version()), "memory"};
  CHECK(database.find_peak(memory).value_or(0) == doctest::Approx(1e9));
  tune::testing::fake_device_options options;
  options.times.copy = copy_time;
  options.limits.max_allocation_bytes = buffer_bytes;
  const auto fake = sample::make_device(options);
  add_chains(fake);
  const search second({.bytes = 2000}, fake.device().create_context(), {}, path);
  CHECK(second.winner("peak_gbs") == doctest::Approx(1));
  CHECK(fake.calls(tune::testing::fake_call::copy) == 0);
  database.store_peak(memory, 1e8);  // a lower one
  CHECK(database.find_peak(memory).value_or(0) == doctest::Approx(1e9));
  auto old = memory;
  old.library_version = "0.0.1";
  CHECK_FALSE(database.find_peak(old));
}

TEST_CASE("a kept peak that trials exceed is measured once more") {
  const tune::testing::temporary_directory folder;
  const std::string path = folder.path() / "tuning.db";
  const tune::context context = make_context();
  const tune::peak_identity memory{context.device().identity(),
                                   std::string(tune::library_version()), "memory"};
  tune::tuning_database(path).store_peak(memory, 0.9e9);
  const search made({.bytes = 2000}, context, {}, path);
  CHECK(made.winner("peak_gbs") == doctest::Approx(1));
  CHECK(tune::tuning_database(path).find_peak(memory).value_or(0) == doctest::Approx(1e9));
}

TEST_CASE("without a database that can be written, a search measures and goes on") {
  const search made({.bytes = 2000}, make_context(), {}, "/proc/no such folder/tuning.db");
  CHECK(made.has("of_peak"));
}

TEST_CASE("all cores of a CPU copy and add") {
  const search made({.bytes = 4000}, make_context(0, tune::device_kind::cpu), {.within = 0.05});
  CHECK(made.best == fastest);
  CHECK(made.winner("peak_gbs") == doctest::Approx(2));
  CHECK(made.hears->finished.end == tune::search_end::target);
}

TEST_CASE("a device that does not run the kernels has no peak") {
  tune::testing::fake_device_options options;
  options.kind = tune::device_kind::cpu;
  const search made({.flops = 1e9, .bytes = 5000, .arithmetic = tune::arithmetic::float32},
                    sample::make_device(options).device().create_context());
  CHECK(made.best == fastest);
  CHECK_FALSE(made.has("of_peak"));
}

TEST_CASE("a search ends with a trial that is near enough to the peak") {
  const search made({.bytes = 2000}, {.within = 0.05});
  CHECK(made.best == fastest);
  CHECK(made.hears->finished.end == tune::search_end::target);
  CHECK(made.hears->finished.trials.size() < 6);
  const search never({.bytes = 1500}, {.within = 0.05});
  CHECK(never.hears->finished.end == tune::search_end::complete);
}

TEST_CASE("what may stay in the cache has no limit") {
  const search made({.bytes = 5000}, {.within = 0.05}, 4000);
  CHECK(made.best == fastest);
  CHECK_FALSE(made.has("of_peak"));
  CHECK(made.hears->finished.end == tune::search_end::complete);
}

TEST_CASE("an arithmetic has a name") {
  for (int i = 0; i <= static_cast<int>(tune::arithmetic::tensor_int8); ++i) {
    const auto by = static_cast<tune::arithmetic>(i);
    CHECK(tune::arithmetic_from_name(tune::arithmetic_name(by)) == by);
  }
  CHECK(tune::arithmetic_name(tune::arithmetic::tensor_int8) == "tensor_int8");
  CHECK_FALSE(tune::arithmetic_from_name("float8"));
}

}  // namespace roofline_test
