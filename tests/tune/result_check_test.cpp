// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// tuning_options::verify, by what a session makes of it.
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/session.hpp"
#include "tests/tune/scale.hpp"

namespace result_check_test {

using sample::scale_tuning;
using tune::result_check;

/// Remembers the trials of the last search.
struct trial_listener final : tune::observer {
  void search_finished(const tune::search_finished_event& search) override {
    for (const tune::trial& item : search.trials) outcomes[item.outcome].push_back(item);
  }
  std::map<tune::outcome, std::vector<tune::trial>> outcomes;
};

/// A search over 8 x 6 configurations, of which those are wrong that a function names. The least
/// wgs is the fastest, then the least rows.
struct scene {
  explicit scene(std::optional<result_check> verify) {
    space.add(&scale_tuning::wgs, {4, 8, 2, 7, 1, 3, 6, 5});
    space.add(&scale_tuning::rows, {2, 6, 1, 5, 3, 4});
    options.strategy = "exhaustive";
    options.verify = verify;
    options.observers = {hears};
  }

  scale_tuning search(const std::function<bool(const scale_tuning&)>& is_wrong) {
    const tune::context context = fake.device().create_context();
    tune::tuning_session session(
        tune::detail::session_setup{.context = context, .options = options, .now = fake.clock()});
    return session.tune(space, [&](const scale_tuning& tuning) {
      return sample::generate(context, tuning).check([=, this]() -> std::optional<std::string> {
        ++checks;
        if (is_wrong(tuning)) return "it is wrong";
        return std::nullopt;
      });
    });
  }

  tune::testing::fake_device fake = sample::make_device();
  tune::space<scale_tuning> space;
  tune::tuning_options options;
  std::shared_ptr<trial_listener> hears = std::make_shared<trial_listener>();
  int checks = 0;
};

bool none(const scale_tuning&) { return false; }

TEST_CASE("by default every result is checked, and the wrong ones have no time") {
  scene s(tune::tuning_options{}.verify);
  CHECK(s.search([](const scale_tuning& t) { return t.wgs == 1; }) ==
        scale_tuning{.wgs = 2, .rows = 1});
  CHECK(s.checks == 48);
  CHECK(s.hears->outcomes[tune::outcome::wrong_result].size() == 6);
}

TEST_CASE("of finalists the wrong ones never win, and few are checked") {
  scene s(result_check::finalists);
  SUBCASE("none is wrong") {
    CHECK(s.search(none) == scale_tuning{.wgs = 1, .rows = 1});
    CHECK(s.hears->outcomes[tune::outcome::wrong_result].empty());
  }
  SUBCASE("the best is wrong, and the next best takes its place") {
    CHECK(s.search([](const scale_tuning& t) { return t.wgs == 1 && t.rows == 1; }) ==
          scale_tuning{.wgs = 1, .rows = 2});
    const auto& wrong = s.hears->outcomes[tune::outcome::wrong_result];
    REQUIRE(wrong.size() == 1);
    CHECK(wrong.front().reason == "it is wrong");
    CHECK_FALSE(wrong.front().score);
  }
  SUBCASE("all that are fast are wrong") {
    // Their times differ by less than what decides, so that rows of 1 and 2 tie. Whatever is faster
    // than those that are right has to be looked at.
    CHECK(s.search([](const scale_tuning& t) { return t.wgs < 4; }).wgs == 4);
    CHECK(s.hears->outcomes[tune::outcome::wrong_result].size() > 0);
  }
  CHECK(s.checks > 0);
  CHECK(s.checks < 40);
}

TEST_CASE("a wrong one that leads unnoticed, because the device has become slower, costs nobody") {
  scene s(result_check::finalists);
  // The device is slower from the first wrong one on, by more than that is faster.
  bool is_slow = false;
  s.fake.set_time([&](const tune::testing::fake_launch& launch) {
    const auto wgs = launch.integer("wgs");
    is_slow = is_slow || wgs == 1;
    const double time = wgs == 4 ? 100'000 : wgs == 1 ? 90'000 : wgs == 3 ? 95'000 : 300'000;
    const auto rows = static_cast<double>(launch.integer("rows"));
    return std::chrono::nanoseconds(std::llround((time + 10 * rows) * (is_slow ? 1.3 : 1)));
  });
  const auto best = s.search([](const scale_tuning& t) { return t.wgs == 1; });
  CHECK(is_slow);
  CHECK(best.wgs == 3);
  CHECK(s.checks < 40);
}

TEST_CASE("where all are wrong, finalists or not, the search fails with the reason") {
  scene s(result_check::finalists);
  CHECK_THROWS_WITH_AS(s.search([](const scale_tuning&) { return true; }),
                       doctest::Contains("it is wrong"), tune::tuning_failed_error);
  CHECK(s.hears->outcomes[tune::outcome::measured].empty());
}

TEST_CASE("finalists are checked without race and final round too, where one run is all they get") {
  scene s(result_check::finalists);
  s.options.budget = tune::tuning_budget{.trials = 1};
  CHECK_THROWS_AS(s.search([](const scale_tuning&) { return true; }), tune::tuning_failed_error);
  CHECK(s.checks == 1);
}

TEST_CASE("without checks the fastest wins, right or wrong") {
  scene s(result_check::none);
  CHECK(s.search([](const scale_tuning&) { return true; }) == scale_tuning{.wgs = 1, .rows = 1});
  CHECK(s.checks == 0);
}

TEST_CASE("a session knows the test default of its autotuner") {
  scene s(result_check::every);
  const tune::context context = s.fake.device().create_context();
  tune::tuning_subject subject;
  subject.function = "scale";
  const tune::tuning_session by_hand(context, subject, {});
  CHECK_THROWS_WITH_AS(by_hand.test_default<scale_tuning>(),
                       doctest::Contains("knows no test default"), tune::argument_error);
  subject.test_default = tune::to_values(scale_tuning{.wgs = 3, .rows = 2});
  const tune::tuning_session made(context, subject, {});
  CHECK(made.test_default<scale_tuning>() == scale_tuning{.wgs = 3, .rows = 2});
}

TEST_CASE("an autotuner tells its sessions what its test default is" *
          tune::testing::force_autotune()) {
  scene s(result_check::every);
  std::optional<scale_tuning> told;
  const tune::autotuner<sample::scale_key, scale_tuning> autotune{
      {.name = "sample.told", .version = 0, .test = sample::test_default},
      [&](tune::tuning_session& session, const sample::scale_key&) {
        told = session.test_default<scale_tuning>();
        return *told;
      }};
  CHECK(autotune(s.fake.device().create_context()) == sample::test_default);
  CHECK(told == sample::test_default);
}

}  // namespace result_check_test
