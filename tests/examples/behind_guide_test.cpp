// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How an application is served now and tuned behind, as docs/serve-now-tune-behind.md shows it.
#include <chrono>
#include <doctest/doctest.h>

#include "examples/multiply/multiply.hpp"
#include "libtune/extra/behind/heartbeat.hpp"
#include "libtune/extra/behind/tuning_behind.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace behind_guide_test {

LIBTUNE_DEVICE_TEST_CASE("a pipeline begins at once, and its next template has the result",
                         device) {
  const tune::testing::test_mode_guard application(tune::testing::test_mode::off);
  const tune::testing::temporary_directory folder;
  const tune::testing::scoped_environment database("LIBTUNE_DB", (folder / "db").c_str());
  const tune::testing::scoped_environment slice("LIBTUNE_SLICE", "60000000");
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  // clang-format off
  // [behind]
  tune::set_tuning_options(context, {.mode = tune::tuning_mode::behind});
  multiply_template first(context);                  // at once: nearest result, or test default
  multiply pipeline = first.instantiate(queue, 1 << 16);
  pipeline.ensure_all_bound();
  tune::heartbeat pulse;
  for (int frame = 0; frame < 100; ++frame) {
    pipeline.run();
    pipeline.queue().finish();
    pulse.beat();                                    // the tuner slows down if these become late
  }
  {
    const tune::idle_window between_observations;    // now it may use the device all the time
    tune::wait_for_tuning_behind(std::chrono::minutes(2));
  }
  multiply_template better(context);                 // with the result of this device
  const tune::behind_summary told = tune::behind_report();
  // [behind]
  // clang-format on
  CHECK(first.tuning.wgs == 32);
  CHECK(told.tuned >= 1);
  CHECK(told.alone.count + told.beside.count >= 99);
  CHECK(multiply_template::autotune.graded(context).grade == tune::lookup_grade::exact);
  CHECK(better.tuning.wgs >= 32);
}

}  // namespace behind_guide_test
