// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// A sealed thread (libtune/base/seal.hpp) gets no tuning, and a control thread does meanwhile.
#include <doctest/doctest.h>
#include <future>
#include <string>

#include "libtune/testing/fixtures.hpp"
#include "tests/tune/application.hpp"

namespace seal_test {

using sample::counted_application;
using sample::counted_autotuner;
using sample::fastest;
using tune::seal_mode;
using tune::sealed_action;
using tune::testing::scoped_seal;

TEST_CASE_FIXTURE(
    counted_application,
    "an autotuner is not called on a sealed thread, whether it would tune or has a result") {
  for (const bool tuned : {false, true}) {
    CAPTURE(tuned);
    const scoped_seal sealed;
    try {
      counted.autotune(context);
      FAIL("called");
    } catch (const tune::seal_broken_error& stopped) {
      const std::string text = stopped.what();
      CHECK(stopped.action() == sealed_action::tune);
      CHECK(text.find("obtain the tuning of 'sample.scale' for size=64 on device 'fake device'") ==
            0);
    }
    CHECK(counted.searches == (tuned ? 1 : 0));
    const tune::unsealed_section tuning;
    CHECK(counted.autotune(context) == fastest);
  }
}

TEST_CASE("also where tests get the test default, so that a test finds what production would") {
  const counted_autotuner counted;
  const auto context = sample::make_device().device().create_context();
  const scoped_seal sealed;
  CHECK_THROWS_AS(counted.autotune(context), tune::seal_broken_error);
}

TEST_CASE_FIXTURE(counted_application,
                  "in counting mode it tunes, and the report has all that it came to, in order") {
  const scoped_seal sealed(seal_mode::counts);
  CHECK(counted.autotune(context) == fastest);
  const tune::seal_summary report = tune::seal_report();
  CHECK(report.count(sealed_action::tune) == 1);
  CHECK(report.count(sealed_action::database) > 0);
  CHECK(report.count(sealed_action::compile) > 0);
  CHECK(report.count(sealed_action::allocate) > 0);
  CHECK(report.count(sealed_action::release) > 0);
  CHECK(report.first.front().action == sealed_action::tune);
  CHECK(report.first.size() == tune::seal_summary::most_kept);
}

TEST_CASE_FIXTURE(counted_application,
                  "a control thread tunes in an unsealed section while the pipeline stays sealed") {
  const scoped_seal sealed({.scope = tune::seal_scope::program});
  auto tuned = std::async(std::launch::async, [&] {
    const tune::unsealed_section reconfiguration;
    return counted.autotune(context);
  });
  CHECK(tuned.get() == fastest);
  CHECK_THROWS_AS(counted.autotune(context), tune::seal_broken_error);
}

}  // namespace seal_test
