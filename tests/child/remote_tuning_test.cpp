// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What pre-tuning does with another program: here this one.
#include "libtune/child/remote_tuning.hpp"

#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libtune/process/usable_resources.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"
#include "tests/child/event_text.hpp"
#include "tests/child/sample_tuner.hpp"

namespace isolated {

enum class walk { by_row, by_column };

struct named_tuning {
  isolated::walk walk = walk::by_row;
};

}  // namespace isolated

LIBTUNE_ENUM(isolated::walk, by_row, by_column)
LIBTUNE_FIELDS(isolated::named_tuning, walk)

namespace {

// Children of this program have it too.
const tune::autotuner<isolated::sample_key, isolated::named_tuning> named_autotune{
    {.name = "isolated.named", .version = 0, .test = {}},
    [](tune::tuning_session&, const isolated::sample_key&) { return isolated::named_tuning{}; }};

const tune::tuner_program this_program{.path = "/proc/self/exe", .arguments = {"child_tests"}};

tune::remote_task sample_task(const tune::device& device, const isolated::sample_key& key,
                              const std::shared_ptr<isolated::event_text>& events) {
  auto options = isolated::isolated_options("");
  options.observers = {events};
  return {.function = isolated::sample_function(),
          .key = tune::to_values(key),
          .device = device,
          .options = options};
}

std::vector<tune::named_value> n(int value) {
  return tune::to_values(isolated::sample_tuning{.n = value});
}

}  // namespace

LIBTUNE_DEVICE_TEST_CASE("given configurations are all that is tried", device) {
  const auto events = std::make_shared<isolated::event_text>();
  auto task = sample_task(device, {}, events);
  task.choice.configurations = {n(7), n(3), n(99)};
  const auto made = tune::tune_remotely(this_program, task);
  CHECK(to_string(made.values) == "n=3");
  REQUIRE(made.score);
  CHECK(events->finished.front().trials.size() == 2);
}

LIBTUNE_DEVICE_TEST_CASE("a tuning ends soon after it is told to, whatever a child does", device) {
  const auto events = std::make_shared<isolated::event_text>();
  auto task = sample_task(device, {.flaw = isolated::flaw::hangs, .bad = 5}, events);
  task.options.watchdog.floor = std::chrono::hours(1);
  bool wanted = false;
  task.stop = [&] { return wanted || (wanted = !events->trials.empty()); };
  CHECK_THROWS_AS(tune::tune_remotely(this_program, task), tune::tuning_stopped_error);
}

LIBTUNE_DEVICE_TEST_CASE("a function or fields that a program does not have are refused", device) {
  const auto events = std::make_shared<isolated::event_text>();
  auto task = sample_task(device, {}, events);
  SUBCASE("name") { task.function.name = "isolated.other"; }
  SUBCASE("version") { task.function.version = 7; }
  SUBCASE("fields") { task.function.key_fields.pop_back(); }
  CHECK_THROWS_WITH_AS(tune::tune_remotely(this_program, task), doctest::Contains("isolated."),
                       tune::tuner_unavailable_error);
}

TEST_CASE("a program says why values are no tuning of a function, such as a name that it has not") {
  const tune::function_identity named{
      .name = "isolated.named",
      .version = 0,
      .key_fields = tune::describe_fields<isolated::sample_key>(),
      .value_fields = tune::describe_fields<isolated::named_tuning>()};
  const auto why = [&](const tune::function_identity& function, const std::string& name) {
    return tune::why_no_tuning(this_program, function, {{"walk", name}});
  };
  CHECK(why(named, "by_column").empty());
  CHECK(why(named, "diagonally").find("diagonally") != std::string::npos);
  tune::function_identity other = named;
  other.version = 1;
  CHECK_FALSE(why(other, "by_column").empty());
  const tune::tuner_program none{.path = "/bin/true", .arguments = {"true"}};
  CHECK_THROWS_AS(tune::why_no_tuning(none, named, {}), tune::tuner_unavailable_error);
}

TEST_CASE("a program lists its autotune functions, with their fields and test defaults") {
  const auto functions = tune::list_functions(this_program);
  const auto sample = std::ranges::find_if(functions, [](const tune::remote_function& function) {
    return function.identity.name == "isolated.sample";
  });
  REQUIRE(sample != functions.end());
  CHECK(sample->identity == isolated::sample_function());
  CHECK(to_string(sample->test_default) == "n=1");
}

TEST_CASE("a program that cannot tune is refused with the reason") {
  tune::tuner_program silent{.path = "/bin/sleep", .arguments = {"sleep", "100"}};
  silent.start_time = std::chrono::milliseconds(50);
  CHECK_THROWS_WITH_AS(tune::list_functions(silent), doctest::Contains("no handshake in 50 ms"),
                       tune::tuner_unavailable_error);
  CHECK_THROWS_WITH_AS(tune::list_functions({.path = "/bin/true", .arguments = {"true"}}),
                       doctest::Contains("exit status 0"), tune::tuner_unavailable_error);
  CHECK_THROWS_AS(tune::list_functions({.path = "/no/such/program", .arguments = {"x"}}),
                  tune::tuner_unavailable_error);
  CHECK_THROWS_WITH_AS(
      tune::list_functions(
          {.path = "/bin/sh", .arguments = {"sh", "-c", "echo this is no message at all >&3"}}),
      doctest::Contains("invalid message"), tune::tuner_unavailable_error);
}

LIBTUNE_DEVICE_TEST_CASE("what the function throws is thrown here, as what it is", device) {
  const auto events = std::make_shared<isolated::event_text>();
  auto task = sample_task(device, {}, events);
  SUBCASE("a strategy that it does not know, before anything is tried") {
    task.options.strategy = "guess";
    CHECK_THROWS_WITH_AS(tune::tune_remotely(this_program, task),
                         doctest::Contains("no search strategy 'guess' in this process"),
                         tune::tuner_unavailable_error);
    CHECK(events->trials.empty());
  }
  SUBCASE("a key of another type") {
    task.key[1].value = std::string("five");
    CHECK_THROWS_AS(tune::tune_remotely(this_program, task), tune::type_error);
  }
}

LIBTUNE_DEVICE_TEST_CASE("children that run at once share the cores for compiling", device) {
  auto task = sample_task(device, {}, std::make_shared<isolated::event_text>());
  const tune::testing::temporary_directory folder;
  const std::string file = (folder / "workers").string();
  const auto workers_of_child = [&] {
    const std::string script = "echo ${LIBTUNE_WORKERS-unset} > '" + file + "'";
    CHECK_THROWS_AS(
        tune::tune_remotely({.path = "/bin/sh", .arguments = {"sh", "-c", script}}, task),
        tune::tuner_unavailable_error);
    std::string said;
    std::ifstream(file) >> said;
    return said;
  };
  const tune::testing::scoped_environment none("LIBTUNE_WORKERS", nullptr);
  CHECK(workers_of_child() == "unset");
  task.children = 2;
  const int all = tune::detail::worker_count(tune::detail::find_usable_resources());
  CHECK(workers_of_child() == std::to_string(std::max(1, all / 2)));
  const tune::testing::scoped_environment given("LIBTUNE_WORKERS", "5");
  CHECK(workers_of_child() == "5");
}
