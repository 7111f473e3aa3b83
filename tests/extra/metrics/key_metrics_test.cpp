// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The answers of autotuners, and the changes of live pipelines, among the metrics.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <functional>

#include "libtune/extra/behind.hpp"
#include "libtune/extra/metrics.hpp"
#include "libtune/extra/metrics/key_tally.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/error.hpp"
#include "tests/extra/live/live_bench.hpp"
#include "tests/extra/metrics/parsed_metrics.hpp"
#include "tests/tune/application.hpp"

namespace key_metrics_test {

using parsed_metrics::page;
using sample::counted_application;
using tune::tuning_mode;
using tune::detail::key_tally;
using tune::detail::tuning_origin;

page read_now() { return page(tune::metrics_exporter({.program = "t"}).text()); }

double answers(const std::string& origin) {
  return read_now()
      .find(fmt::format(
          R"(libtune_answers_total{{program="t",function="sample.scale",origin="{}"}})", origin))
      .value_or(0);
}

/// The grade of the key with this size.
std::string grade_of(int size) {
  const auto now = read_now();
  for (const auto& [series, value] : now.families().at("libtune_key_info").samples) {
    const std::string wanted = fmt::format("size={}", size);
    if (series.find("sample.scale") == std::string::npos) continue;
    if (series.find(wanted + "\"") == std::string::npos &&
        series.find(wanted + ",") == std::string::npos) {
      continue;
    }
    const std::string before = "grade=\"";
    const std::size_t at = series.find(before) + before.size();
    return series.substr(at, series.find('"', at) - at);
  }
  return "";
}

/// Checks that a call is counted once, with this origin.
void check_answer(const char* origin, int size, const std::function<void()>& call) {
  CAPTURE(origin);
  const double before = answers(origin);
  call();
  CHECK(answers(origin) == before + 1);
  CHECK(grade_of(size) == origin);
}

TEST_CASE_FIXTURE(counted_application, "each answer is counted by its origin, and grades its key") {
  const auto ask = [&](int size, tuning_mode mode) {
    return [this, size, mode] { counted.autotune(context, {.size = size}, {.mode = mode}); };
  };
  check_answer("test_default", 1001, ask(1001, tuning_mode::defaults));
  check_answer("searched", 1001, ask(1001, tuning_mode::tune));
  check_answer("exact", 1001, ask(1001, tuning_mode::tune));
  check_answer("exact", 1001, ask(1001, tuning_mode::cached));
  check_answer("searched", 1001, ask(1001, tuning_mode::force));
  check_answer("failed", 1002,
               [&] { CHECK_THROWS_AS(ask(1002, tuning_mode::cached)(), tune::not_tuned_error); });
  // A failure changes nothing for a tuning in service.
  check_answer("test_default", 1002, ask(1002, tuning_mode::defaults));
  CHECK_THROWS_AS(ask(1002, tuning_mode::cached)(), tune::not_tuned_error);
  CHECK(grade_of(1002) == "test_default");
}

TEST_CASE_FIXTURE(counted_application, "a result of another device is of the grade nearest") {
  sample::store(path, sample::context_of("another device"), {.wgs = 8, .rows = 2});
  const double before = answers("nearest");
  counted.autotune(context, {}, {.match = tune::match_mode::nearest, .mode = tuning_mode::tune});
  CHECK(answers("nearest") == before + 1);
}

tune::tuning_subject subject_of(const std::string& function, int size = 1) {
  tune::tuning_subject made;
  made.function = function;
  made.arguments = {{"size", size}};
  made.device.identity.name = "device \"one\"";
  return made;
}

TEST_CASE("changes of a live pipeline are counted by their key, and a swap raises its grade") {
  const tune::tuning_subject subject = subject_of("key_metrics.live");
  tune::detail::open_doors().answered(subject, tuning_origin::test_default);
  using tune::live_change;
  for (const live_change each : {live_change::trying, live_change::taken_back, live_change::trying,
                                 live_change::kept, live_change::drifted}) {
    tune::detail::open_doors().live_changed({.subject = subject, .change = each});
  }
  const page read = read_now();
  const auto count = [&](const char* change) {
    return read.find(fmt::format(R"(libtune_live_changes_total{{program="t",)"
                                 R"(function="key_metrics.live",version="0",)"
                                 R"(device="device \"one\"",platform="",key="size=1",)"
                                 R"(change="{}"}})",
                                 change));
  };
  CHECK(count("trying") == 2);
  CHECK(count("kept") == 1);
  CHECK(count("taken_back") == 1);
  CHECK(count("refused") == 0);
  CHECK(count("drifted") == 1);
  CHECK(read.find(R"(libtune_key_info{program="t",function="key_metrics.live",version="0",)"
                  R"(device="device \"one\"",platform="",key="size=1",grade="searched"})") == 1);
}

TEST_CASE("a swap of a live pipeline is counted") {
  live_sample::bench pipeline;
  pipeline.publish({.mark = 2, .time = 900});
  pipeline.settle();
  const page read = read_now();
  double kept = 0;
  for (const auto& [series, value] : read.families().at("libtune_live_changes_total").samples) {
    const bool is_kept = series.find("change=\"kept\"") != std::string::npos;
    if (is_kept && series.find("live_sample.step") != std::string::npos) kept += value;
  }
  CHECK(kept == 1);
}

TEST_CASE_FIXTURE(sample::application, "the tuner behind the program shows its work") {
  using namespace std::chrono_literals;
  // The tuner's own measurement of disturbances is short on a CPU.
  tune::testing::fake_device_options cpu;
  cpu.kind = tune::device_kind::cpu;
  const auto fake = sample::make_device(cpu);
  const sample::counted_autotuner behind("key_metrics.behind");
  tune::tuning_options options{.mode = tuning_mode::behind};
  options.isolation = tune::isolation_mode::off;
  options.behind = {.share = 1.0, .slice = std::chrono::microseconds(1s)};
  const auto figure = [](const char* name) {
    return read_now().find(fmt::format("{}{{program=\"t\"}}", name)).value();
  };
  const double tuned = figure("libtune_behind_tuned_total");
  const double used = figure("libtune_behind_device_seconds_total");
  const tune::context on_cpu = fake.device().create_context();
  behind.autotune(on_cpu, {}, options);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  CHECK(figure("libtune_behind_tuned_total") == tuned + 1);
  CHECK(figure("libtune_behind_device_seconds_total") > used);
  CHECK(figure("libtune_behind_waiting_keys") == 0);
  CHECK(read_now().find(R"(libtune_behind_seconds_total{program="t",part="measuring"})") > 0);
  // Only the application's call counts, not that of the tuner.
  const auto count = [](const char* origin) {
    return read_now().find(fmt::format(
        R"(libtune_answers_total{{program="t",function="key_metrics.behind",origin="{}"}})",
        origin));
  };
  CHECK(count("test_default") == 1);
  CHECK(count("searched") == 0);
  behind.autotune(on_cpu, {}, options);
  CHECK(count("exact") == 1);
}

TEST_CASE("the text has the keys that were used most, and the grades of all") {
  key_tally tally;
  for (int size = 0; size < 30; ++size) {
    for (int n = 0; n <= size; ++n) tally.note(subject_of("f", size), tuning_origin::exact);
  }
  tune::metric_page made;
  tally.write(made, 3);
  const page read(made.text(tune::metrics_format::prometheus));
  const auto& keys = read.families().at("libtune_key_info").samples;
  CHECK(keys.size() == 3);
  for (const auto& [series, value] : keys) {
    CHECK((series.find("size=27") != std::string::npos ||
           series.find("size=28") != std::string::npos ||
           series.find("size=29") != std::string::npos));
  }
  CHECK(read.find("libtune_keys{grade=\"exact\"}") == 30);
  CHECK(read.find("libtune_keys{grade=\"nearest\"}") == 0);
}

TEST_CASE("keys beyond the most that are kept count by their function alone") {
  key_tally tally;
  const int most = static_cast<int>(key_tally::most_keys);
  for (int size = 0; size < most + 5; ++size) {
    tally.note(subject_of("f", size), tuning_origin::exact);
  }
  tune::metric_page made;
  tally.write(made, 1);
  const page read(made.text(tune::metrics_format::prometheus));
  CHECK(read.find("libtune_keys{grade=\"exact\"}") == most);
  CHECK(read.find("libtune_keys_left_out_total") == 5);
  CHECK(read.find("libtune_answers_total{function=\"f\",origin=\"exact\"}") == most + 5);
}

}  // namespace key_metrics_test
