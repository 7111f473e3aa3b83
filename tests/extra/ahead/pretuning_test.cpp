// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What several devices do with the keys of a program, with simulated children.
#include "libtune/extra/ahead/pretuning.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libtune/device/devices.hpp"
#include "libtune/extra/ahead/group_work.hpp"
#include "libtune/extra/ahead/job_queue.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/extra/ahead/simulated_tuner.hpp"

namespace pretuning_test {

using pretuned::equal_devices;
using pretuned::simulated_function;
using pretuned::simulated_key;
using pretuned::simulated_tuner;
using tune::job_queue;
using tune::led_job;
using tune::pretuning_state;

/// Devices, an application and a database.
struct bench {
  explicit bench(std::size_t count) : devices(count) {
    tuner.device_name = [this](const tune::device& of) { return devices.name(of); };
    options.tuning.database = (folder / "tuning.db").string();
    options.tuning.system_databases = std::vector<std::string>{};
  }

  tune::testing::temporary_directory folder;
  equal_devices devices;
  simulated_tuner tuner;
  tune::pretuning_options options;
  tune::tuning_refusal refuses;

  std::vector<tune::pretuning_result> pretune(int keys) {
    std::vector<tune::pretuning_item> items;
    for (int rows = 1; rows <= keys; ++rows) {
      items.push_back({simulated_function(), simulated_key(rows)});
    }
    return pretune(items);
  }
  std::vector<tune::pretuning_result> pretune(const std::vector<tune::pretuning_item>& items) {
    return tune::pretune_with([this](const tune::remote_task& task) { return tuner(task); }, items,
                              devices.all(), options, refuses);
  }
  tune::tuning_database database() const { return tune::tuning_database(*options.tuning.database); }
  tune::record_key key(int rows) const {
    return {simulated_key(rows), devices.all().front().identity()};
  }
  std::int64_t stored(int rows) const {
    const auto found = database().find(simulated_function(), key(rows));
    REQUIRE(found);
    return std::get<std::int64_t>(found->values.front().value);
  }
};

void check_each_once(const simulated_tuner& tuner, std::size_t configurations) {
  const auto tried = tuner.tried();
  CHECK(tried.size() == configurations);
  CHECK(std::set<int>(tried.begin(), tried.end()).size() == configurations);
}

TEST_CASE("devices of one identity and backend form a group, in the order of their first") {
  using tune::testing::fake_device;
  const fake_device first;
  const fake_device newer({.identity = {"fake device", "fake platform", "2.0"}});
  const fake_device again;
  const fake_device elsewhere({.backend = "other"});
  const std::vector<tune::device> all{first.device(), newer.device(), again.device(),
                                      elsewhere.device()};
  const auto groups = tune::group_devices(all);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].devices == std::vector{first.device(), again.device()});
  CHECK(groups[1].info().identity.driver_version == "2.0");
  CHECK(groups[2].info().backend == "other");
  CHECK(tune::group_devices({}).empty());
}

TEST_CASE("one device tunes key after key, and stores what is found, trials included") {
  bench here(1);
  const auto results = here.pretune(3);
  REQUIRE(results.size() == 3);
  for (const auto& result : results) {
    CHECK(result.state == pretuning_state::tuned);
    CHECK(result.trials == 32);
    CHECK(result.score == tune::run_time(1001));
  }
  CHECK(here.stored(3) == 1);
  CHECK(here.database().trials(simulated_function(), here.key(2)).size() == 32);
  const auto search = here.database().latest_search_result(simulated_function(), here.key(2));
  REQUIRE(search);
  CHECK(search->result == "found");
}

TEST_CASE("a device keeps its child from key to key") {
  bench here(2);
  std::mutex mutex;
  std::set<const void*> children;
  here.tuner.before_trial = [&](const tune::remote_task& task, int) {
    CHECK_FALSE(task.is_behind);
    const std::lock_guard lock(mutex);
    children.insert(task.kept);
  };
  for (const auto& result : here.pretune(9)) CHECK(result.state == pretuning_state::tuned);
  CHECK_FALSE(children.contains(nullptr));
  CHECK(children.size() <= 2);
}

TEST_CASE("a result that is no tuning of the program any more is tuned anew, and gives way") {
  bench here(1);
  here.database().store(simulated_function(), here.key(1), {{"n", std::int64_t{9}}}, 1.0);
  here.database().store(simulated_function(), here.key(2), {{"n", std::int64_t{8}}}, 1.0);
  here.refuses = [](const tune::function_identity& function,
                    const std::vector<tune::named_value>& values) -> std::string {
    CHECK(function == simulated_function());
    return values.front().value == tune::value(std::int64_t{9}) ? "nine is gone" : "";
  };
  const auto results = here.pretune(2);
  CHECK(results[0].state == pretuning_state::tuned);
  CHECK(results[1].state == pretuning_state::present);
  CHECK(here.stored(1) == 1);
  CHECK(here.stored(2) == 8);
}

TEST_CASE("what has a result is left alone, unless forced") {
  bench here(1);
  here.pretune(1);
  const auto again = here.pretune(2);
  CHECK(again[0].state == pretuning_state::present);
  CHECK(again[0].values == std::vector<tune::named_value>{{"n", std::int64_t{1}}});
  CHECK(again[0].score == tune::run_time(1001));
  CHECK(again[1].state == pretuning_state::tuned);
  CHECK(here.tuner.made().size() == 64);
  here.tuner.time = [](const std::string&, int n) { return 2000.0 - n; };
  here.options.force = true;
  CHECK(here.pretune(1)[0].state == pretuning_state::tuned);
  CHECK(here.stored(1) == 32);
}

TEST_CASE("keys are shared out among equal devices, each key once") {
  bench here(2);
  std::atomic<int> waiting = 0;
  here.tuner.before_trial = [&](const tune::remote_task&, int) {
    // Both are at work at the same time.
    for (++waiting; waiting < 2;) std::this_thread::yield();
  };
  const auto results = here.pretune(4);
  CHECK(std::ranges::count(results, pretuning_state::tuned, &tune::pretuning_result::state) == 4);
  CHECK(here.tuner.made().size() == 4 * 32);
  CHECK(here.tuner.devices_used() == std::set<std::string>{"a", "b"});
}

TEST_CASE("children share the cores by keys, and by devices where these are fewer") {
  for (const int keys : {1, 2, 9}) {
    bench here(3);
    std::mutex mutex;
    std::set<std::size_t> children;
    here.tuner.before_trial = [&](const tune::remote_task& task, int) {
      const std::lock_guard lock(mutex);
      children.insert(task.children);
    };
    here.pretune(keys);
    CHECK(children == std::set<std::size_t>{static_cast<std::size_t>(std::min(keys, 3))});
  }
}

TEST_CASE("a function may make a second search") {
  bench here(2);
  here.tuner.has_second_search = true;
  const auto results = here.pretune(1);
  CHECK(results[0].state == pretuning_state::tuned);
  const auto tried = here.tuner.tried();
  for (int n = 1; n <= 32; ++n) {
    CAPTURE(n);
    CHECK(tried.count(n) == 2);
  }
}

TEST_CASE("a key that cannot be tuned keeps no other from it") {
  bench here(1);
  here.tuner.before_trial = [](const tune::remote_task& task, int) {
    if (task.key == simulated_key(1)) throw std::runtime_error("its own fault");
  };
  const auto results = here.pretune(2);
  CHECK(results[0].state == pretuning_state::failed);
  CHECK(results[0].reason == "its own fault");
  CHECK(results[1].state == pretuning_state::tuned);
}

TEST_CASE("where nothing works that is the reason, and the search has come to its end") {
  bench here(2);
  here.tuner.time = [](const std::string&, int) { return 0.0; };
  const auto results = here.pretune(1);
  CHECK(results[0].state == pretuning_state::failed);
  CHECK(results[0].reason.find("32 x failed") != std::string::npos);
  const auto search = here.database().latest_search_result(simulated_function(), here.key(1));
  REQUIRE(search);
  CHECK(search->result == "all failed");
}

TEST_CASE("a search that is stopped continues the next time, and tries nothing twice") {
  bench here(1);
  std::atomic<int> tries = 0;
  here.tuner.before_trial = [&](const tune::remote_task&, int) { ++tries; };
  here.options.stop = [&] { return tries >= 10; };
  const auto stopped = here.pretune(2);
  CHECK(stopped[0].state == pretuning_state::stopped);
  CHECK(stopped[0].trials == 10);
  CHECK(stopped[1].state == pretuning_state::stopped);
  CHECK(stopped[1].trials == 0);
  here.options.stop = {};
  const auto results = here.pretune(1);
  CHECK(results[0].state == pretuning_state::tuned);
  CHECK(results[0].trials == 22);
  check_each_once(here.tuner, 32);
}

TEST_CASE("a key that was missed on a device is tuned for such devices alone") {
  bench here(1);
  auto elsewhere = here.devices.all().front().identity();
  elsewhere.driver_version = "another";
  const std::vector<tune::pretuning_item> items{
      {simulated_function(), simulated_key(1), elsewhere},
      {simulated_function(), simulated_key(2), here.devices.all().front().identity()}};
  CHECK(tune::count_pretunings(items, here.devices.all()) == 1);
  const auto results = here.pretune(items);
  REQUIRE(results.size() == 1);
  CHECK(results[0].subject.arguments == simulated_key(2));
}

TEST_CASE("a database in which nothing can be stored is refused before anything is tuned") {
  bench here(1);
  here.options.tuning.database = here.folder.path().string();
  CHECK_THROWS_WITH_AS(here.pretune(1), doctest::Contains(here.folder.path().c_str()),
                       tune::database_error);
}

led_job take_job(job_queue& queue) {
  auto job = queue.next();
  REQUIRE(job);
  return *std::move(job);
}

TEST_CASE("jobs are dealt out in order, and then there is nothing more") {
  job_queue queue({4, 2});
  CHECK(take_job(queue).number() == 4);
  CHECK(take_job(queue).number() == 2);
  CHECK_FALSE(queue.next());
}

TEST_CASE("a job that is given back is the next one, for a device that waits too") {
  job_queue queue({0, 1});
  std::optional<led_job> lost = take_job(queue);
  CHECK(take_job(queue).number() == 1);
  std::optional<std::size_t> found;
  {
    // Nothing is left, but one job is under way.
    const std::jthread waits([&] {
      while (auto job = queue.next()) found = job->number();
    });
    lost->give_back();
    lost.reset();
  }
  CHECK(found == 0);
  CHECK_FALSE(queue.next());
}

}  // namespace pretuning_test

// The same in children of this program, for two devices of this machine's CPU.
namespace pretuning_test::of_remote_pretuning {

using isolated::flaw;
using isolated::sample_key;

// PoCL reads it when it is used first; children inherit it.
const int two_devices = ::setenv("POCL_DEVICES", "pthread pthread", 0);

tune::tuner_program this_program() {
  return {.path = "/proc/self/exe", .arguments = {"ahead_tests"}};
}

std::vector<tune::device> equal_devices() {
  for (const tune::device_group& group : tune::group_devices(tune::all_devices())) {
    if (group.devices.size() > 1) return group.devices;
  }
  tune::testing::skip("there are no two devices that are alike");
  return {};
}

tune::pretuning_options options_in(const tune::testing::temporary_directory& folder) {
  tune::pretuning_options options;
  options.tuning = isolated::isolated_options((folder / "tuning.db").string());
  options.tuning.system_databases = std::vector<std::string>{};
  return options;
}

tune::pretuning_item item_for(const sample_key& key) {
  return {isolated::sample_function(), tune::to_values(key)};
}

TEST_CASE("children tune keys for two devices, and crashes of theirs are trials") {
  const tune::testing::test_mode_guard application(tune::testing::test_mode::off);
  const tune::testing::temporary_directory folder;
  const auto devices = equal_devices();
  if (devices.empty()) return;
  const auto options = options_in(folder);
  const std::vector<tune::pretuning_item> items{
      item_for({.flaw = flaw::segfault, .bad = 3, .configurations = 6}),
      item_for({.configurations = 5}), item_for({.flaw = flaw::dies_outside})};
  const auto results = tune::pretune(this_program(), items, devices, options);
  REQUIRE(results.size() == 3);
  CHECK(results[0].state == pretuning_state::tuned);
  CHECK(results[0].trials == 6);
  CHECK(to_string(results[0].values) == "n=1");
  CHECK(results[1].state == pretuning_state::tuned);
  CHECK(results[2].state == pretuning_state::failed);
  CHECK(results[2].reason.find("3 children in a row") != std::string::npos);
}

}  // namespace pretuning_test::of_remote_pretuning
