// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The time for which all searches of a program together hold it up (LIBTUNE_READY).
#include "libtune/tune/engine/held_up_time.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <vector>

#include "libtune/extra/behind.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/options.hpp"
#include "tests/tune/application.hpp"

namespace held_up_time_test {

using namespace std::chrono_literals;
using sample::counted_application;
using sample::fastest;
using sample::test_default;
using tune::tuning_mode;
using tune::detail::held_up_time;
using tune::detail::part_of_total;
using tune::testing::scoped_environment;

TEST_CASE("time counts once for all searches that are under way") {
  tune::testing::fake_clock clock;
  held_up_time time([&] { return clock.now(); });
  CHECK(time.total() == 0s);
  {
    const held_up_time::interval one(time);
    clock.advance(2s);
    CHECK(time.total() == 2s);
    {
      const held_up_time::interval other(time);
      clock.advance(3s);
    }
    clock.advance(1s);
  }
  clock.advance(60s);
  CHECK(time.total() == 6s);
  const held_up_time::interval later(time);
  clock.advance(1s);
  CHECK(time.total() == 7s);
}

TEST_CASE("searches that take all they may use up the total, and no more") {
  std::chrono::nanoseconds used{0};
  std::vector<std::chrono::nanoseconds> parts;
  while (const auto part = part_of_total(60s, used)) {
    parts.push_back(*part);
    used += *part;
    REQUIRE(parts.size() < 20);
  }
  CHECK(used == 60s);
  CHECK(parts.front() == 15s);
  CHECK(parts.size() > 8);
  CHECK_FALSE(part_of_total(60s, 61s));
}

/// Hears the time that a search has.
struct budget_listener final : tune::observer {
  void search_started(const tune::search_started_event& event) override {
    left = event.budget_left;
  }
  std::optional<std::chrono::nanoseconds> left;
};

TEST_CASE_FIXTURE(counted_application, "a search may take a part of the time to be ready") {
  const auto listener = std::make_shared<budget_listener>();
  const auto used = tune::detail::held_up().total();
  const tune::tuning_options options{.ready = used + 4h, .observers = {listener}};
  CHECK(counted.autotune(context, {}, options) == fastest);
  CHECK(counted.searches == 1);
  REQUIRE(listener->left);
  CHECK(*listener->left <= 1h);
  CHECK(*listener->left > 50min);
  CHECK(tune::detail::held_up().total() > used);
}

TEST_CASE_FIXTURE(counted_application,
                  "once the time is used up keys are served, noted, and tuned behind the program") {
  tune::tuning_options options{.ready = 1ns, .isolation = tune::isolation_mode::off};
  const tune::detail::held_up_time::interval at_least(tune::detail::held_up());
  while (tune::detail::held_up().total() <= 1ns) {
  }
  const auto served = counted.autotune.graded(context, {}, options);
  CHECK(served.tuning == test_default);
  CHECK(served.grade == tune::lookup_grade::miss);
  CHECK(served.is_tuned_behind);
  CHECK(tune::missed_keys(tune::missed_keys::path_beside(path)).read().keys.size() == 1);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  CHECK(counted.autotune(context, {}, options) == fastest);
  CHECK(counted.searches == 1);

  SUBCASE("so the mode force uses the stored result") {
    options.mode = tuning_mode::force;
    CHECK(counted.autotune(context, {}, options) == fastest);
    CHECK(counted.searches == 1);
  }
  SUBCASE("but the mode cached still fails without a result") {
    options.mode = tuning_mode::cached;
    CHECK_THROWS_AS(counted.autotune(context, {.size = 128}, options), tune::not_tuned_error);
  }
  SUBCASE("and without a limit a key is tuned") {
    const scoped_environment off("LIBTUNE_READY", "off");
    CHECK(counted.autotune(context, {.size = 128}, options) == fastest);
    CHECK(counted.searches == 2);
  }
}

TEST_CASE_FIXTURE(counted_application, "the nearest result serves once the time is used up") {
  sample::store(path, sample::context_of("another device"), {.wgs = 8, .rows = 2}, 1000.0,
                "sample.declared");
  const tune::tuning_options options{.ready = 1ns, .isolation = tune::isolation_mode::off};
  const tune::detail::held_up_time::interval at_least(tune::detail::held_up());
  while (tune::detail::held_up().total() <= 1ns) {
  }
  // A result that has to be run first to be checked would make the program wait.
  const tune::autotuner<sample::scale_key, sample::scale_tuning> declared{
      {.name = "sample.declared", .test = test_default},
      [](tune::tuning_session& session, const sample::scale_key&) {
        auto space = sample::make_space();
        space.needs([](const sample::scale_tuning& tuning) {
          return tune::resources{.work_group = {static_cast<std::size_t>(tuning.wgs), 1, 1}};
        });
        return session.tune(space, [&](const sample::scale_tuning& tuning) {
          return sample::generate(session.context(), tuning);
        });
      }};
  const auto served = declared.graded(context, {}, options);
  CHECK(served.tuning == sample::scale_tuning{.wgs = 8, .rows = 2});
  CHECK(served.grade == tune::lookup_grade::nearest);
  CHECK(tune::wait_for_tuning_behind(60s));
}

TEST_CASE_FIXTURE(counted_application, "what is called inside of a search is a part of it") {
  sample::counted_autotuner inner("sample.inner");
  const tune::autotuner<sample::scale_key, sample::scale_tuning> outer{
      {.name = "sample.outer", .test = test_default},
      [&](tune::tuning_session& session, const sample::scale_key& key) {
        return inner.autotune(session.context(), key, {.ready = 1ns});
      }};
  CHECK(outer(context, {}, {.isolation = tune::isolation_mode::off}) == fastest);
  CHECK(inner.searches == 1);
}

}  // namespace held_up_time_test
