// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Searches in children of this program, for the first device that there is.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/process/usable_resources.hpp"
#include "libtune/search/strategy/strategy.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"
#include "tests/child/event_text.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/child/workbench.hpp"

namespace remote_search_test {

using isolated::flaw;
using isolated::sample_key;
using isolated::sample_tuning;
using isolated::workbench;
using tune::outcome;

LIBTUNE_DEVICE_TEST_CASE("a search in a child finds and stores what one in this process does",
                         device) {
  workbench bench(device);
  const auto here = std::make_shared<isolated::event_text>();
  auto in_process = bench.options();
  in_process.isolation = tune::isolation_mode::off;
  in_process.database = bench.path("here.db");
  in_process.observers = {here};
  const sample_key key{.configurations = 8};
  CHECK(isolated::sample_autotune(bench.context, key, in_process) == sample_tuning{1});
  CHECK(isolated::sample_autotune(bench.context, key, bench.options()) == sample_tuning{1});
  CHECK(bench.events->lines == here->lines);
  CHECK(bench.events->finished.size() == 1);
  const auto lines = bench.events->lines.size();
  CHECK(isolated::sample_autotune(bench.context, key, bench.options()) == sample_tuning{1});
  CHECK_MESSAGE(bench.events->lines.size() == lines, "the second call looks it up");
}

LIBTUNE_DEVICE_TEST_CASE("a child searches on the part of a device that it is for", device) {
  const std::size_t units = device.limits().compute_units;
  std::optional<tune::device> part;
  try {
    if (units > 1) part = device.divide({units / 2}).back();
  } catch (const tune::device_error& refusal) {
    tune::testing::skip(refusal.what());
  }
  if (!part) return;
  workbench bench(*part);
  const sample_key key{.configurations = 8};
  CHECK(isolated::sample_autotune(bench.context, key, bench.options()) == sample_tuning{1});
  CHECK(bench.events->finished.size() == 1);
  tune::tuning_database database(bench.path("tuning.db"));
  const auto found = [&](const tune::device& of) {
    return database.find(isolated::sample_function(), {tune::to_values(key), of.identity()});
  };
  CHECK(found(*part));
  CHECK_FALSE(found(device));
}

LIBTUNE_DEVICE_TEST_CASE("a child searches for the goal of the author, with his metrics and probes",
                         device) {
  const tune::testing::scoped_environment no_goal("LIBTUNE_OBJECTIVE", nullptr);
  workbench bench(device);
  CHECK(isolated::goal_autotune(bench.context, {.configurations = 8}, bench.options()) ==
        sample_tuning{4});
  REQUIRE(bench.events->finished.size() == 1);
  CHECK(to_string(bench.events->finished[0].goal) == "max load");
  for (const tune::trial& made : bench.events->finished[0].trials) {
    CAPTURE(to_string(made.configuration));
    CHECK(tune::metric_value(made, "gflops") > 0);
    CHECK(tune::metric_value(made, "process") > 0);
    CHECK(tune::metric_value(made, "process") != static_cast<double>(::getpid()));
    // A child loads drivers of its device's API alone.
    if (device.info().backend == "CUDA") CHECK(tune::metric_value(made, "pocl") == 0);
  }
  // Of the function, whatever the goal, and with the metrics in the database.
  CHECK(bench.events->lines.front().find("started isolated.goal ") == 0);
  tune::function_identity function = isolated::sample_function();
  function.name = "isolated.goal..max_load";
  tune::tuning_database database(bench.path("tuning.db"));
  const auto trials = database.trials(
      function, {tune::to_values(sample_key{.configurations = 8}), device.identity()});
  REQUIRE(trials.size() == 8);
  CHECK(tune::find_metric(trials.front().metrics, "load") != nullptr);
}

LIBTUNE_DEVICE_TEST_CASE("metrics of the application are added to what a child has measured",
                         device) {
  const tune::testing::scoped_environment no_goal("LIBTUNE_OBJECTIVE", nullptr);
  workbench bench(device);
  auto options = bench.options();
  options.metrics.computed = {{.name = "doubled", .compute = [](const tune::trial& item) {
                                 return 2 * tune::metric_value(item, "time");
                               }}};
  CHECK(isolated::sample_autotune(bench.context, {.configurations = 4}, options) ==
        sample_tuning{1});
  REQUIRE_FALSE(bench.events->trials.empty());
  for (const tune::trial& made : bench.events->trials) {
    CHECK(tune::metric_value(made, "doubled") == 2 * made.score->count());
  }
  // A goal that names one cannot be searched for where the function is not.
  options.goal = tune::tuning_goal{.objectives = {tune::minimise("doubled")}};
  CHECK_THROWS_WITH_AS(isolated::sample_autotune(bench.context, {.configurations = 4}, options),
                       doctest::Contains("registered_metrics"), tune::argument_error);
  options.isolation = tune::isolation_mode::automatic;
  CHECK(isolated::sample_autotune(bench.context, {.configurations = 4}, options) ==
        sample_tuning{1});
}

LIBTUNE_DEVICE_TEST_CASE("samples come from a child as they were measured, to the last bit",
                         device) {
  workbench bench(device);
  isolated::sample_autotune(bench.context, {.configurations = 3}, bench.options());
  for (const tune::trial& made : bench.events->trials) {
    const double n = std::stod(to_string(made.configuration).substr(2));
    for (const tune::run_time time : made.samples.times()) CHECK(time.count() == n * 1e-6 * 1e9);
  }
}

LIBTUNE_DEVICE_TEST_CASE("a budget of trials counts over all children", device) {
  workbench bench(device);
  auto options = bench.options();
  options.budget = tune::tuning_budget{.trials = 6};
  isolated::sample_autotune(bench.context, bench.key(flaw::segfault), options);
  CHECK(bench.events->finished.front().trials.size() == 6);
}

LIBTUNE_DEVICE_TEST_CASE("an autotuner that children cannot find is tuned in this process",
                         device) {
  workbench bench(device);
  const tune::autotuner<sample_key, sample_tuning> local{
      {.name = "isolated.local"},
      [](tune::tuning_session&, const sample_key&) { return sample_tuning{7}; }};
  auto options = bench.options();
  CHECK_THROWS_WITH_AS(local(bench.context, {}, options), doctest::Contains("static object"),
                       tune::error);
  options.isolation = tune::isolation_mode::automatic;
  CHECK(local(bench.context, {}, options) == sample_tuning{7});
}

std::unique_ptr<tune::strategy> make_backwards(const tune::search_space& space,
                                               const tune::strategy_options& options) {
  std::vector<std::size_t> all(std::min(space.size(), options.max_count.value_or(space.size())));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = space.size() - 1 - i;
  return tune::make_shortlist(space, all);
}

// There before main begins, and so in children.
const bool is_known_to_children = tune::register_strategy("test.backwards", make_backwards);

/// The configurations of all trials, whatever the order in which they ended.
std::set<std::string> tried(const isolated::event_text& events) {
  std::set<std::string> configurations;
  for (const tune::trial& item : events.trials) {
    configurations.insert(to_string(item.configuration));
  }
  return configurations;
}

LIBTUNE_DEVICE_TEST_CASE("children know the application's strategies, and its limits", device) {
  workbench bench(device);
  auto options = bench.options();
  options.strategy = "test.backwards";
  options.search.max_count = 3;
  isolated::sample_autotune(bench.context, {.configurations = 8}, options);
  // The space lists the greatest first.
  CHECK(tried(*bench.events) == std::set<std::string>{"n=1", "n=2", "n=3"});
}

LIBTUNE_DEVICE_TEST_CASE("children search as the environment says, whatever the application says",
                         device) {
  workbench bench(device);
  const tune::testing::scoped_environment strategy("LIBTUNE_STRATEGY", "test.backwards");
  const tune::testing::scoped_environment budget("LIBTUNE_BUDGET", "2 trials");
  auto options = bench.options();
  options.strategy = "random";
  options.search.max_count = 5;
  isolated::sample_autotune(bench.context, {.configurations = 8}, options);
  CHECK(tried(*bench.events) == std::set<std::string>{"n=1", "n=2"});
}

LIBTUNE_DEVICE_TEST_CASE("a strategy that children cannot know is used in this process", device) {
  workbench bench(device);
  static const bool is_late = tune::register_strategy("test.late", make_backwards);
  CHECK(is_late);
  auto options = bench.options();
  options.strategy = "test.late";
  CHECK_THROWS_WITH_AS(isolated::sample_autotune(bench.context, {}, options),
                       doctest::Contains("'test.late' in this process"), tune::error);
  options.isolation = tune::isolation_mode::automatic;
  CHECK(isolated::sample_autotune(bench.context, {}, options) == sample_tuning{1});
  options.strategy = "test.misspelt";
  CHECK_THROWS_WITH_AS(isolated::sample_autotune(bench.context, {.configurations = 9}, options),
                       doctest::Contains("test.late"), tune::argument_error);
}

TEST_CASE("a device that no other process can find is tuned for in this process") {
  const tune::testing::test_mode_guard application(tune::testing::test_mode::off);
  const tune::testing::temporary_directory folder;
  const tune::testing::fake_device fake;
  auto options = isolated::isolated_options((folder / "tuning.db").string());
  const auto context = fake.device().create_context();
  CHECK_THROWS_WITH_AS(isolated::sample_autotune(context, {}, options),
                       doctest::Contains("another process"), tune::error);
  options.isolation = tune::isolation_mode::automatic;
  CHECK(isolated::sample_autotune(context, {}, options) == sample_tuning{1});
}

LIBTUNE_DEVICE_TEST_CASE("a function that asks for its own result in a child gets an error",
                         device) {
  workbench bench(device);
  sample_key key;
  key.log = bench.path("tuning.db");
  CHECK_THROWS_WITH_AS(isolated::selfish_autotune(bench.context, key, bench.options()),
                       doctest::Contains("asks for its own result"), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("a result of another device is tried in a child, too", device) {
  workbench bench(device);
  const sample_key key = bench.key(flaw::segfault);
  tune::device_identity other = device.identity();
  other.driver_version = "another";
  const tune::function_identity function = isolated::sample_function();
  tune::tuning_database(bench.path("tuning.db"))
      .store(function, {tune::to_values(key), other}, tune::to_values(sample_tuning{5}), 1.0);
  auto options = bench.options();
  options.match = tune::match_mode::nearest;
  SUBCASE("and not used if that ends the child") {
    CHECK(isolated::sample_autotune(bench.context, key, options) == sample_tuning{1});
    REQUIRE(bench.events->finished.size() == 1);
    CHECK(bench.events->finished.front().trials.size() == 8);
    bench.check_that_little_ran_twice();
  }
  SUBCASE("and if it ends the child, not tried by more than one program after this") {
    options.mode = tune::tuning_mode::defaults;
    for (int i = 0; i < 3; ++i) {
      tune::record_memory::shared().forget_all();
      isolated::sample_autotune(bench.context, key, options);
    }
    CHECK(isolated::read_log(bench.path("log")) == std::vector<std::string>{"5", "5"});
  }
  SUBCASE("and used if it works") {
    sample_key harmless = key;
    harmless.bad = 4;
    tune::tuning_database(bench.path("tuning.db"))
        .store(function, {tune::to_values(harmless), other}, tune::to_values(sample_tuning{5}),
               1.0);
    CHECK(isolated::sample_autotune(bench.context, harmless, options) == sample_tuning{5});
    CHECK(isolated::read_log(bench.path("log")) == std::vector<std::string>{"5"});
  }
}

LIBTUNE_DEVICE_TEST_CASE("a child keeps to the budget of device memory, and is put off by it",
                         device) {
  workbench bench(device);
  auto options = bench.options();
  options.memory = tune::memory_budget{.bytes = std::size_t{4} << 20};
  const sample_key key{.bad = 1, .configurations = 6};
  CHECK(isolated::hungry_autotune(bench.context, key, options) == sample_tuning{1});
  REQUIRE(bench.events->finished.size() == 1);
  CHECK(bench.events->finished[0].memory_budget_bytes == std::size_t{4} << 20);
  CHECK(bench.events->finished[0].memory_held_bytes <= std::size_t{4} << 20);
  CHECK(bench.events->finished[0].memory_held_bytes >= std::size_t{1} << 20);
  CHECK(bench.bad_trial(4).outcome == outcome::measured);
  CHECK(bench.bad_trial(5).outcome == outcome::over_limit);
  CHECK_THROWS_WITH_AS(
      isolated::hungry_autotune(bench.context, {.bad = 8, .configurations = 6}, options),
      doctest::Contains("may hold 4194304 bytes"), tune::too_little_memory_error);
  options.memory = tune::memory_budget{.bytes = std::size_t{16} << 20};
  CHECK(isolated::hungry_autotune(bench.context, {.bad = 8, .configurations = 6}, options) ==
        sample_tuning{1});
  CHECK_MESSAGE(bench.events->finished.size() == 2, "one that is put off has not ended");
}

/// Wants device memory, as an allocation without room does, after some trials.
struct memory_wanter final : tune::observer {
  explicit memory_wanter(tune::device wanted, int after, int most)
      : device(std::move(wanted)), trials(after), times(most) {}
  ~memory_wanter() override {
    for (std::thread& each : threads) each.join();
  }

  void trial_finished(const tune::tuning_subject&, const tune::trial&) override {
    if (--trials >= 0 || times-- <= 0) return;
    threads.emplace_back([this] {
      int tries = 0;
      if (tune::detail::make_reclaiming(*device.impl(), 1, [&] { return tries++ > 0; })) ++served;
    });
  }

  tune::device device;
  int trials;
  int times;
  std::vector<std::thread> threads;
  std::atomic<int> served{0};
};

LIBTUNE_DEVICE_TEST_CASE("a child whose device memory the program wants is replaced", device) {
  workbench bench(device);
  auto options = bench.options();
  const sample_key key{.configurations = 12, .sleep_us = 20'000, .log = bench.path("log")};
  int served = 0;
  {
    const auto wanter = std::make_shared<memory_wanter>(device, 3, 1);
    options.observers.push_back(wanter);
    CHECK(isolated::sample_autotune(bench.context, key, options) == sample_tuning{1});
    for (std::thread& each : wanter->threads) each.join();
    wanter->threads.clear();
    served = wanter->served;
  }
  CHECK(served == 1);
  REQUIRE(bench.events->finished.size() == 1);
  const auto& trials = bench.events->finished[0].trials;
  CHECK(trials.size() == 12);
  for (const tune::trial& made : trials) CHECK(made.outcome == outcome::measured);
  CHECK(std::ranges::count_if(bench.events->lines, [](const std::string& line) {
          return line.starts_with("started");
        }) == 1);
}

}  // namespace remote_search_test

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
