// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// A sealed thread (libtune/base/seal.hpp) gets no tuning, and a control thread does meanwhile.
#include <doctest/doctest.h>
#include <future>
#include <string>

#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/tune/scale.hpp"

namespace seal_test {

using sample::counted_autotuner;
using sample::fastest;
using tune::seal_mode;
using tune::sealed_action;
using tune::testing::scoped_environment;
using tune::testing::scoped_seal;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

struct application {
  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  scoped_environment database{"LIBTUNE_DB", (folder / "tuning.db").c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  counted_autotuner counted;
  tune::context context = sample::make_device().device().create_context();
};

TEST_CASE("an autotuner is not called on a sealed thread, whether it would tune or has a result") {
  application app;
  for (const bool tuned : {false, true}) {
    CAPTURE(tuned);
    const scoped_seal sealed;
    try {
      app.counted.autotune(app.context);
      FAIL("called");
    } catch (const tune::seal_broken_error& stopped) {
      const std::string text = stopped.what();
      CHECK(stopped.action() == sealed_action::tune);
      CHECK(text.find("obtain the tuning of 'sample.scale' for size=64 on device 'fake device'") ==
            0);
    }
    CHECK(app.counted.searches == (tuned ? 1 : 0));
    const tune::unsealed_section tuning;
    CHECK(app.counted.autotune(app.context) == fastest);
  }
}

TEST_CASE("also where tests get the test default, so that a test finds what production would") {
  const counted_autotuner counted;
  const auto context = sample::make_device().device().create_context();
  const scoped_seal sealed;
  CHECK_THROWS_AS(counted.autotune(context), tune::seal_broken_error);
}

TEST_CASE("in counting mode it tunes, and the report has all that it came to, in order") {
  application app;
  const scoped_seal sealed(seal_mode::counts);
  CHECK(app.counted.autotune(app.context) == fastest);
  const tune::seal_summary report = tune::seal_report();
  CHECK(report.count(sealed_action::tune) == 1);
  CHECK(report.count(sealed_action::database) > 0);
  CHECK(report.count(sealed_action::compile) > 0);
  CHECK(report.count(sealed_action::allocate) > 0);
  CHECK(report.count(sealed_action::release) > 0);
  CHECK(report.first.front().action == sealed_action::tune);
  CHECK(report.first.size() == tune::seal_summary::most_kept);
}

TEST_CASE("a control thread tunes in an unsealed section while the pipeline stays sealed") {
  application app;
  const scoped_seal sealed({.scope = tune::seal_scope::program});
  auto tuned = std::async(std::launch::async, [&] {
    const tune::unsealed_section reconfiguration;
    return app.counted.autotune(app.context);
  });
  CHECK(tuned.get() == fastest);
  CHECK_THROWS_AS(app.counted.autotune(app.context), tune::seal_broken_error);
}

}  // namespace seal_test
