// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tuning on a fake device, and with options of the application, as docs/ shows both.
#include <chrono>
#include <doctest/doctest.h>
#include <iostream>
#include <memory>

#include "examples/multiply/multiply.hpp"
#include "libtune/console/reports.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/run_tests.hpp"

namespace options_test {

// [fake]
TEST_CASE("the fastest work group wins" * tune::testing::force_autotune()) {
  const tune::testing::fake_device fake;
  fake.add_kernel("multiply", 2, [](tune::testing::fake_launch&) {});
  fake.set_time([](const tune::testing::fake_launch& launch) {
    return std::chrono::microseconds(launch.range().local.x == 128 ? 10 : 20);
  });
  CHECK(multiply_template(fake.device().create_context()).tuning.wgs == 128);
}
// [fake]

TEST_CASE("options that an application sets are those of the context") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  // [options]
  tune::tuning_options options;
  options.database = "/srv/pipeline/tuning.db";
  options.budget = tune::tuning_budget{.time = std::chrono::seconds(30)};
  options.observers = {std::make_shared<tune::table_reporter>(std::cout)};
  tune::set_tuning_options(context, options);
  // [options]
  CHECK(tune::tuning_options_of(context)->budget == options.budget);
}

}  // namespace options_test
