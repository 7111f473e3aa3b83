// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/sequence/sequence_tuner.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/operation/sequence.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"
#include "tests/tune/scale.hpp"

namespace sequence_tuner_test {

using sample::counted_autotuner;
using sample::scale_tuning;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;
using namespace std::chrono_literals;

constexpr std::size_t first_size = 64;
constexpr std::size_t second_size = 128;

/// The second kernel takes twice the time of the first, and 5 us more if it comes right after a
/// first one of the same work group. So (4, 1) then (2, 1) is the best sequence, though (2, 1) is
/// the best tuning of each.
tune::testing::fake_device make_device() {
  tune::testing::fake_device fake = sample::make_device();
  auto after = std::make_shared<std::int64_t>(0);  // the work group of a first kernel right before
  fake.set_time([after](const tune::testing::fake_launch& launch) {
    const auto own =
        std::chrono::nanoseconds(1000 * launch.integer("wgs") + launch.integer("rows"));
    const std::int64_t before = std::exchange(*after, 0);
    if (launch.range().global.x < second_size) {
      *after = launch.integer("wgs");
      return own;
    }
    return 2 * own + (before == launch.integer("wgs") ? 5000ns : 0ns);
  });
  return fake;
}

tune::operation_sequence make_sequence(const tune::command_queue& queue, const scale_tuning& first,
                                       const scale_tuning& second) {
  const tune::context context = queue.context();
  return tune::operation_sequence(
      queue,
      {{"first", sample::scale(queue, sample::compile(context, first), first_size, first)},
       {"second", sample::scale(queue, sample::compile(context, second), second_size, second)}});
}

/// Two members with autotuners and a database of their own, as in an application.
struct application {
  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  scoped_environment database{"LIBTUNE_DB", path.c_str()};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  tune::context context = make_device().device().create_context();
  counted_autotuner first{"sample.first"};
  counted_autotuner second{"sample.second"};
  int made = 0;

  tune::sequence_tuner tuner(std::int64_t frames = 1, std::size_t finalists = 4) const {
    tune::sequence_tuner both(
        {.name = "sample.both", .version = 1, .key = {{"frames", frames}}, .finalists = finalists});
    both.member("first", first.autotune, {.size = first_size});
    both.member("second", second.autotune, {.size = second_size});
    return both;
  }
  tune::member_tunings tune(const tune::sequence_tuner& by) {
    return by.tune(context, [this](const tune::tuning_command_queue& queue) {
      return [this, queue, work = tune::workload(queue)](const tune::member_tunings& with) {
        ++made;
        return tune::make_sequence_measure(
            queue,
            make_sequence(queue, with.get<scale_tuning>("first"), with.get<scale_tuning>("second")),
            work, {});
      };
    });
  }
};

TEST_CASE("the finalists are the result and the next best of its search") {
  application app;
  const auto all = app.first.autotune.finalists(app.context, {.size = first_size}, 3);
  CHECK(all == std::vector<scale_tuning>{
                   {.wgs = 2, .rows = 1}, {.wgs = 2, .rows = 2}, {.wgs = 4, .rows = 1}});
  CHECK(app.first.searches == 1);
  CHECK(app.first.autotune.finalists(app.context, {.size = first_size}, 100).size() == 6);
  CHECK(app.first.searches == 1);
  CHECK_THROWS_AS(app.first.autotune.finalists(app.context, {}, 0), tune::argument_error);
}

TEST_CASE("members are tuned together, and the result is found again") {
  application app;
  const tune::member_tunings best = app.tune(app.tuner());
  CHECK(best.names() == std::vector<std::string>{"first", "second"});
  CHECK(best.get<scale_tuning>("first") == scale_tuning{.wgs = 4, .rows = 1});
  CHECK(best.get<scale_tuning>("second") == scale_tuning{.wgs = 2, .rows = 1});
  CHECK(app.first.searches == 1);
  CHECK(app.second.searches == 1);
  CHECK(app.made >= 16);

  // As another process finds it, or this one.
  app.made = 0;
  const tune::member_tunings again = app.tune(app.tuner());
  CHECK(again.get<scale_tuning>("first") == scale_tuning{.wgs = 4, .rows = 1});
  CHECK(app.made == 0);
  CHECK(app.first.searches == 1);

  // Another size, though of the same members.
  app.tune(app.tuner(2));
  CHECK(app.made > 0);
  CHECK(app.first.searches == 1);

  CHECK_THROWS_WITH_AS(best.get<scale_tuning>("third"),
                       doctest::Contains("its members are first, second"), tune::argument_error);
}

TEST_CASE("one finalist of each leaves the tunings of the members alone") {
  application app;
  const tune::member_tunings best = app.tune(app.tuner(1, 1));
  CHECK(best.get<scale_tuning>("first") == sample::fastest);
  CHECK(best.get<scale_tuning>("second") == sample::fastest);
}

TEST_CASE("in a test program a sequence has the test defaults of its members") {
  application app;
  const test_mode_guard defaults(test_mode::defaults);
  const tune::member_tunings best = app.tune(app.tuner());
  CHECK(best.get<scale_tuning>("first") == sample::test_default);
  CHECK(app.made == 0);
}

TEST_CASE("a sequence that computes something else does not win") {
  application app;
  const auto right = [](const tune::member_tunings& with) {
    return with.get<scale_tuning>("first").wgs == 2;
  };
  const tune::member_tunings best =
      app.tuner().tune(app.context, [&](const tune::tuning_command_queue& queue) {
        return [=](const tune::member_tunings& with) {
          return tune::make_sequence_measure(queue,
                                             make_sequence(queue, with.get<scale_tuning>("first"),
                                                           with.get<scale_tuning>("second")),
                                             tune::workload(queue), {})
              .check([=]() -> std::optional<std::string> {
                return right(with) ? std::nullopt : std::optional<std::string>("other numbers");
              });
        };
      });
  CHECK(right(best));
}

TEST_CASE("members need names of their own") {
  const application app;
  auto tuner = app.tuner();
  CHECK_THROWS_AS(tuner.member("first", app.first.autotune), tune::argument_error);
  CHECK_THROWS_AS(tuner.member("frames", app.first.autotune), tune::argument_error);
  CHECK_THROWS_AS(tuner.member("a member", app.first.autotune), tune::argument_error);
  CHECK_THROWS_AS(tune::sequence_tuner({.name = "sample.none"}).tune(app.context, {}),
                  tune::argument_error);
  CHECK_THROWS_AS(tune::sequence_tuner({.name = "sample.none", .finalists = 0}),
                  tune::argument_error);
}

TEST_CASE("a child in place is timed between its neighbours, and they are left out") {
  const auto queue = make_device().device().create_context().create_tuning_command_queue();
  const auto sequence =
      std::make_shared<tune::operation_sequence>(make_sequence(queue, {2, 0}, {2, 0}));
  const tune::sequence_times times = tune::time_sequence(queue, sequence);
  REQUIRE(times.children.size() == 2);
  CHECK(times.children[0].name == "first");
  CHECK(times.children[0].alone == tune::run_time(2000ns));
  CHECK(times.children[0].in_place == tune::run_time(2000ns));
  CHECK(times.children[1].alone == tune::run_time(4000ns));
  CHECK(times.children[1].in_place == tune::run_time(9000ns));
  CHECK(times.alone() == tune::run_time(6000ns));
  CHECK(times.in_place() == tune::run_time(11000ns));
  CHECK(times.whole == tune::run_time(11000ns));
  CHECK_THROWS_WITH_AS(tune::make_measure_in_place(queue, sequence, "third"),
                       doctest::Contains("first, second"), tune::argument_error);
}

}  // namespace sequence_tuner_test
