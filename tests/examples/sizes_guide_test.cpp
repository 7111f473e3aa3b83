// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/sizes.md.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <span>
#include <vector>

#include "examples/guide/guide.hpp"
#include "libtune/extra/ranged/ranged_autotuner.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"

// clang-format off
namespace sizes_guide_test {

using guide::gain;
using guide::gain_tuning;
using guide::source;

// [key]
struct sized_gain_key {
  tune::size_range rows{1, 4096};
  tune::size_range columns{64, 65536, tune::range_scale::logarithmic, 16};
};
// [key]

}  // namespace sizes_guide_test

LIBTUNE_FIELDS(sizes_guide_test::sized_gain_key, rows, columns)

namespace sizes_guide_test {

// [template]
class sized_gain_template {
 public:
  static const tune::ranged_autotuner<sized_gain_key, gain_tuning> autotune;

  explicit sized_gain_template(const tune::context& context, const sized_gain_key& key = {})
      : portfolio_(autotune.portfolio(context, key)) {
    for (const gain_tuning& each : portfolio_.tunings()) {
      programs_.push_back(tune::compile(context, source, tune::defines(each)));
    }
  }

  gain instantiate(const tune::command_queue& queue, std::size_t rows, std::size_t columns) const {
    const std::size_t chosen = portfolio_.choose({rows, columns});
    const std::size_t wgs = portfolio_.tunings()[chosen].wgs;
    return {queue, programs_[chosen], wgs, rows, tune::dimension(columns, {.round = wgs})};
  }

  const tune::portfolio<gain_tuning>& portfolio() const { return portfolio_; }

 private:
  tune::portfolio<gain_tuning> portfolio_;
  std::vector<tune::program> programs_;
};
// [template]

// [costs]
tune::cost_function gain_costs(const sized_gain_key&, const gain_tuning& tuning,
                               const tune::device_limits& device) {
  const std::size_t at_once = device.compute_units * std::max<std::size_t>(2048 / tuning.wgs, 1);
  return [wgs = tuning.wgs, at_once](std::span<const std::uint64_t> sizes) {
    const std::size_t groups = sizes[0] * tune::divide_up(sizes[1], wgs);
    return tune::cost_terms{static_cast<double>(tune::divide_up(groups, at_once)),
                            static_cast<double>(groups), static_cast<double>(sizes[0] * sizes[1])};
  };
}
// [costs]

// [autotune]
const tune::ranged_autotuner<sized_gain_key, gain_tuning> sized_gain_template::autotune{
    {.name = "guide.sized_gain_template.autotune", .version = 0, .test = {.wgs = 64},
     .features = {}, .fits = {}, .costs = gain_costs, .limits = {}, .goal = {}},
    [](tune::tuning_session& session, const sized_gain_key&,
       std::span<const std::uint64_t> sizes) {
      auto queue = session.context().create_tuning_command_queue();
      const std::size_t rows = sizes[0];
      const std::size_t columns = sizes[1];
      tune::space<gain_tuning> space;
      space.add(&gain_tuning::wgs, {32, 64, 128, 256, 512, 1024});
      space.needs([](const gain_tuning& t) { return tune::resources{.work_group = {t.wgs, 1, 1}}; });
      tune::host_array<float> twos({rows, columns});
      tune::host_array<float> halves({rows});
      tune::host_array<float> ones({rows, columns});
      twos.fill(2.0F);
      halves.fill(0.5F);
      ones.fill(1.0F);
      tune::workload work(queue);
      work.set("src", twos).set("factors", halves);
      tune::answer answer;
      answer.add("dest", ones);
      return session.tune(space, [&](const gain_tuning& tuning) {
        const tune::program program =
            tune::compile(session.context(), source, tune::defines(tuning));
        gain op(queue, program, tuning.wgs, rows, tune::dimension(columns, {.round = tuning.wgs}));
        return tune::make_measure(queue, std::move(op), work, answer);
      });
    }};
// [autotune]
// clang-format on

void check_gain(const sized_gain_template& made, tune::command_queue queue, std::size_t rows,
                std::size_t columns) {
  gain op = made.instantiate(queue, rows, columns);
  op.ensure_all_bound();
  tune::host_array<float> twos({rows, columns});
  tune::host_array<float> halves({rows});
  twos.fill(2.0F);
  halves.fill(0.5F);
  op.buffer("src").set(queue, twos);
  op.buffer("factors").set(queue, halves);
  op.run();
  const auto dest = op.buffer("dest").get<float>(queue);
  CHECK(dest(0, 0) == 1.0F);
  CHECK(dest(rows - 1, columns - 1) == 1.0F);
}

LIBTUNE_DEVICE_TEST_CASE("the guide's template serves any size", device) {
  const tune::context context = device.create_context();
  const sized_gain_template made(context);
  auto queue = context.create_command_queue();
  check_gain(made, queue, 3, 80);
  check_gain(made, queue, 100, 77);  // outside of the ranges
}

LIBTUNE_DEVICE_TEST_CASE("the guide's template is tuned for ranges", device) {
  const tune::testing::test_mode_guard forced(tune::testing::test_mode::forced);
  const tune::context context = device.create_context();
  tune::set_tuning_options(context, {.measure = tune::measure_settings{.max_iterations = 5}});
  const sized_gain_template made(context, {.rows = {1, 2}, .columns = {64, 80, {}, 16}});
  // How many of the four sizes it comes to is up to the time that the first search took.
  CHECK(made.portfolio().facts().sizes > 0);
  CHECK(made.portfolio().facts().sizes <= 4);
  auto queue = context.create_command_queue();
  check_gain(made, queue, 1, 64);
  check_gain(made, queue, 2, 80);
}

}  // namespace sizes_guide_test
