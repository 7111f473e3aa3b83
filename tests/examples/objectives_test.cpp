// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/objectives.md.
#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "examples/guide/guide.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"

namespace objectives_test {

using guide::gain_key;
using guide::gain_template;
using guide::gain_tuning;

constexpr std::size_t rows = 8;
constexpr std::size_t columns = 4096;

// clang-format off
// [probe]
class longest_batch final : public tune::probe {
 public:
  void after_runs(tune::trial& of, std::span<const tune::run_time> times) override {
    const double longest = std::ranges::max(times).count();
    const tune::metric* known = tune::find_metric(of.metrics, "longest");
    tune::set_metric(of.metrics, {"longest", known ? std::max(longest, known->value) : longest, "ns"});
  }
};
// [probe]

// [author]
const tune::autotuner<gain_key, gain_tuning> autotune{
    {.name = "gain.by_bandwidth", .goal = {.objectives = {tune::maximise("gbs")}}},
    [](tune::tuning_session& session, const gain_key&) {
      auto queue = session.context().create_tuning_command_queue();
      tune::space<gain_tuning> space;
      space.add(&gain_tuning::wgs, {32, 64, 128});
      const tune::metric_sources metrics{
          .computed = {{.name = "us_a_row",
                        .compute = [](const tune::trial& trial) {
                          return tune::metric_value(trial, "time") / 1000 / rows;
                        },
                        .unit = "us"}},
          .probes = {std::make_shared<longest_batch>()}};
      return session.tune(space, [&](const gain_tuning& tuning) {
        auto gain = gain_template(session.context(), tuning).instantiate(queue, rows, columns);
        gain.ensure_all_bound();
        return tune::make_measure(queue, std::move(gain))
            .work({.flops = rows * columns,
                   .bytes = 8.0 * rows * columns,
                   .arithmetic = tune::arithmetic::float32});
      }, {.metrics = metrics});
    }};
// [author]
// clang-format on

struct listener final : tune::observer {
  void search_finished(const tune::search_finished_event& event) override { finished = event; }
  tune::search_finished_event finished;
};

LIBTUNE_DEVICE_TEST_CASE("the page's goals find a winner each" * tune::testing::force_autotune(),
                         device) {
  const tune::context context = device.create_context();
  const auto heard = std::make_shared<listener>();
  tune::tuning_options options;
  options.observers = {heard};
  CHECK(autotune(context, {}, options).wgs >= 32);
  REQUIRE(heard->finished.best);
  const tune::trial best = heard->finished.trials[*heard->finished.best];
  for (const char* name : {"flops", "gflops", "bytes", "gbs", "us_a_row", "longest"}) {
    CAPTURE(name);
    CHECK(tune::metric_value(best, name) > 0);
  }
  // That the best is found is tested with times that a test sets; these are a busy machine's.
  CHECK(to_string(heard->finished.goal) == "max gbs");
  // clang-format off
  // [application]
  options.goal = {.objectives = {tune::minimise("time"), tune::minimise("p99")},
                  .constraints = {tune::at_least("us_a_row", 0), tune::at_most("time", 1e9)}};
  const gain_tuning steady = autotune(context, {}, options);
  // [application]
  // clang-format on
  CHECK(steady.wgs >= 32);
  CHECK(to_string(heard->finished.goal) == "min time, min p99, us_a_row >= 0, time <= 1000000000");
  CHECK_FALSE(tune::pareto_front(heard->finished.goal, heard->finished.trials).empty());
}

}  // namespace objectives_test
