// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks that share keys, each a thread with devices and a database of its own, and with simulated
// children. tests/tunedb/mpirun_test.cpp has them as processes.
#include "libtune/extra/ahead/fleet.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <doctest/doctest.h>
#include <fstream>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/library_version.hpp"
#include "libtune/extra/ahead/fleet_message.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"
#include "tests/extra/ahead/simulated_tuner.hpp"
#include "tests/store/captured_errors.hpp"

namespace fleet_test {

using pretuned::simulated_function;
using pretuned::simulated_key;
using pretuned::simulated_tuner;
using tune::pretuning_state;
using tune::testing::captured_errors;

/// Counts what the rank that leads tells.
struct counting_listener final : tune::pretuning_listener {
  std::size_t count = 0;
  std::vector<std::string> losses{};

  void planned(std::size_t all) override { count = all; }
  void lost(std::size_t, const std::string& reason) override { losses.push_back(reason); }
};

/// A rank: devices, a database and what it tunes with.
struct rank {
  explicit rank(const std::string& path) {
    tuner.device_name = [](const tune::device& of) { return of.name(); };
    options.tuning.database = path;
    options.tuning.system_databases = std::vector<std::string>{};
    options.stop = [this] { return stopped.load(); };
    options.listener = &listener;
  }
  // What is left of a process that is killed: closed connections.
  void die() {
    stopped = true;
    for (const auto& link : ranks->links().links) link->close();
  }
  tune::tuning_database database() const { return tune::tuning_database(*options.tuning.database); }
  std::string content() const {
    return canonical_text(tune::database_reader(*options.tuning.database).read_all());
  }

  std::vector<tune::testing::fake_device> fakes{tune::testing::fake_device()};
  simulated_tuner tuner;
  tune::pretuning_options options;
  counting_listener listener;
  std::unique_ptr<tune::communicator> ranks;
  int more_keys = 0;  // than the others
  std::atomic<bool> stopped = false;
  std::vector<tune::pretuning_result> results;
  std::string failure;
};

struct fleet {
  explicit fleet(std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      all.push_back(
          std::make_unique<rank>((folder / ("tuning" + std::to_string(i) + ".db")).string()));
    }
  }

  void pretune(int keys) {
    auto ranks = tune::communicator::of_threads(all.size());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i]->ranks = std::make_unique<tune::communicator>(std::move(ranks[i]));
    }
    for (const auto& one : all) threads.emplace_back([=, one = one.get()] { run(*one, keys); });
  }
  static void run(rank& one, int keys) {
    std::vector<tune::pretuning_item> items;
    for (int rows = 1; rows <= keys + one.more_keys; ++rows) {
      items.push_back({simulated_function(), simulated_key(rows)});
    }
    std::vector<tune::device> devices;
    for (const auto& fake : one.fakes) devices.push_back(fake.device());
    try {
      one.results = tune::pretune_with_ranks(
          *one.ranks, [&](const tune::remote_task& task) { return one.tuner(task); }, items,
          devices, one.options, {});
    } catch (const std::exception& thrown) {
      one.failure = thrown.what();
    }
  }
  std::size_t trials() const {
    std::size_t count = 0;
    for (const auto& one : all) count += one->tuner.made().size();
    return count;
  }
  std::size_t count(std::size_t number, pretuning_state state) const {
    return static_cast<std::size_t>(
        std::ranges::count(all[number]->results, state, &tune::pretuning_result::state));
  }
  /// They all return the same, and their databases hold the same.
  void check_agreement() const {
    for (const auto& one : all) {
      CHECK(one->failure.empty());
      CHECK(one->content() == all[0]->content());
      REQUIRE(one->results.size() == all[0]->results.size());
      for (std::size_t i = 0; i < one->results.size(); ++i) {
        CHECK(one->results[i].state == all[0]->results[i].state);
        CHECK(one->results[i].values == all[0]->results[i].values);
        CHECK(one->results[i].subject.device.identity ==
              all[0]->results[i].subject.device.identity);
      }
    }
  }

  tune::testing::temporary_directory folder;
  std::vector<std::unique_ptr<rank>> all;
};

tune::testing::fake_device device_of(const std::string& name) {
  return tune::testing::fake_device({.identity = {name, "fake platform", "1.0"}});
}

TEST_CASE("ranks share keys, and all have the same results, trials included") {
  fleet here(3);
  std::atomic<int> waiting = 0;
  for (const auto& one : here.all) {
    one->tuner.before_trial = [&](const tune::remote_task&, int) {
      for (++waiting; waiting < 3;) std::this_thread::yield();  // all are at work
    };
  }
  here.pretune(7);
  here.check_agreement();
  CHECK(here.count(0, pretuning_state::tuned) == 7);
  CHECK(here.trials() == 7 * 32);
  for (const auto& one : here.all) {
    CHECK_FALSE(one->tuner.made().empty());
    for (const auto& result : one->results) {
      CHECK(result.trials == 32);
      CHECK(result.score == tune::run_time(1001));
    }
  }
  CHECK(here.all[0]->listener.count == 7);
  CHECK(here.all[1]->listener.count == 0);
  const auto found = here.all[2]->database().find(
      simulated_function(), {simulated_key(7), here.all[2]->fakes[0].device().identity()});
  REQUIRE(found);
  CHECK(found->score_ns == 1001.0);
}

TEST_CASE("a key that one rank has is present for all, and the faster of two results stays") {
  fleet here(3);
  const tune::record_key first{simulated_key(1), here.all[0]->fakes[0].device().identity()};
  const tune::record_key second{simulated_key(2), first.device};
  here.all[1]->database().store(simulated_function(), first, {{"n", std::int64_t{9}}}, 5.0);
  here.all[1]->database().store(simulated_function(), second, {{"n", std::int64_t{8}}}, 6.0);
  here.all[2]->database().store(simulated_function(), second, {{"n", std::int64_t{7}}}, 4.0);
  here.pretune(3);
  here.check_agreement();
  CHECK(here.count(2, pretuning_state::present) == 2);
  CHECK(here.trials() == 32);
  CHECK(here.all[0]->results[0].values == std::vector<tune::named_value>{{"n", std::int64_t{9}}});
  CHECK(here.all[1]->results[1].values == std::vector<tune::named_value>{{"n", std::int64_t{7}}});
}

TEST_CASE("a forced result takes the place of a faster one, on each rank") {
  fleet here(2);
  const tune::record_key key{simulated_key(1), here.all[0]->fakes[0].device().identity()};
  here.all[1]->database().store(simulated_function(), key, {{"n", std::int64_t{9}}}, 5.0);
  here.all[0]->options.force = true;
  here.pretune(1);
  here.check_agreement();
  CHECK(here.count(1, pretuning_state::tuned) == 1);
  const auto found = here.all[1]->database().find(simulated_function(), key);
  REQUIRE(found);
  CHECK(found->values == std::vector<tune::named_value>{{"n", std::int64_t{1}}});
}

TEST_CASE("a search that one rank began is continued by another") {
  fleet here(2);
  fleet alone(1);
  alone.all[0]->options.tuning.database = here.all[1]->options.tuning.database;
  std::atomic<int> tries = 0;
  alone.all[0]->tuner.before_trial = [&](const tune::remote_task&, int) {
    if (++tries > 10) alone.all[0]->stopped = true;
  };
  alone.pretune(1);
  CHECK(alone.count(0, pretuning_state::stopped) == 1);
  const std::size_t before = alone.trials();
  here.pretune(1);
  here.check_agreement();
  CHECK(here.count(1, pretuning_state::tuned) == 1);
  CHECK(before + here.trials() == 32);
}

TEST_CASE("devices are grouped by identity over all ranks, and each kind has each key once") {
  fleet here(4);
  here.all[1]->fakes = {device_of("other")};
  here.all[3]->fakes = {device_of("other")};
  here.pretune(4);
  here.check_agreement();
  CHECK(here.all[3]->results.size() == 8);
  CHECK(here.count(3, pretuning_state::tuned) == 8);
  CHECK(here.trials() == 8 * 32);
  for (const auto& made : here.all[1]->tuner.made()) CHECK(made.device == "other");
}

TEST_CASE("a rank that dies costs the trial under way, and the others do its keys") {
  fleet here(3);
  here.all[2]->tuner.before_trial = [&](const tune::remote_task&, int) {
    if (here.all[2]->tuner.made().size() == 10) here.all[2]->die();
  };
  // The others wait until it has a key.
  for (const std::size_t other : {0, 1}) {
    here.all[other]->tuner.before_trial = [&](const tune::remote_task&, int) {
      while (!here.all[2]->stopped) std::this_thread::yield();
    };
  }
  here.pretune(6);
  CHECK(here.count(0, pretuning_state::tuned) == 6);
  CHECK(here.count(1, pretuning_state::tuned) == 6);
  CHECK(here.trials() <= 6 * 32 + 1);
  CHECK(here.all[0]->listener.losses == std::vector<std::string>{"rank 2 has been lost"});
  CHECK(here.all[0]->content() == here.all[1]->content());
}

TEST_CASE("when the rank that leads dies the next one leads, and what was finished is kept") {
  fleet here(3);
  std::atomic<bool> has_key = false;
  here.all[0]->tuner.before_trial = [&](const tune::remote_task& task, int) {
    if (task.key == simulated_key(1)) return;
    // Finished keys are sent once a second.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!has_key && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      has_key = here.all[1]
                    ->database()
                    .find(simulated_function(),
                          {simulated_key(1), here.all[0]->fakes[0].device().identity()})
                    .has_value();
    }
    here.all[0]->die();
  };
  for (const std::size_t other : {1, 2}) {
    here.all[other]->tuner.before_trial = [&](const tune::remote_task& task, int) {
      if (task.key == simulated_key(1)) return;
      while (!here.all[0]->stopped) std::this_thread::yield();
    };
  }
  here.pretune(5);
  CHECK(has_key);
  for (const std::size_t other : {1, 2}) {
    CHECK(here.all[other]->failure.empty());
    CHECK(here.all[other]->results.size() == 5);
    CHECK(here.count(other, pretuning_state::present) >= 1);
    CHECK(here.count(other, pretuning_state::present) + here.count(other, pretuning_state::tuned) ==
          5);
  }
  CHECK(here.all[1]->content() == here.all[2]->content());
  CHECK(here.all[1]->listener.count == 5);
}

/// A rank that is stopped in the middle of its work: it says what a rank says first, and then
/// nothing for as long as it is connected. @returns whether the others said farewell in the end
bool be_silent(const tune::communicator& ranks, std::size_t to, const rank& own,
               const tune::detail::fleet_message& first) {
  auto& link = *ranks.links().links[to];
  link.send(first);
  link.send(tune::detail::fleet_content{});  // it has nothing for the keys
  bool was_left = false;
  while (!link.is_lost()) {
    const auto message = link.next(std::chrono::steady_clock::now() + std::chrono::seconds(60));
    was_left |= message && std::holds_alternative<tune::detail::fleet_farewell>(*message);
  }
  CHECK(own.tuner.made().empty());
  return was_left;
}

tune::detail::fleet_hello hello_of(const rank& own) {
  return {.machine = tune::detail::this_machine(),
          .process = 4711,
          .database = "its own",
          .devices = {own.fakes[0].device().info()}};
}

TEST_CASE("a rank that lives and does not answer is given up, and another device does its key") {
  fleet here(3);
  for (const auto& one : here.all) one->options.longest_silence = std::chrono::milliseconds(600);
  auto ranks = tune::communicator::of_threads(3);
  // The others have keys until the end, so the silent one has one too.
  std::atomic<bool> was_left = false;
  for (const std::size_t other : {0, 1}) {
    here.all[other]->tuner.before_trial = [&](const tune::remote_task&, int) {
      while (!was_left) std::this_thread::yield();
    };
    here.all[other]->ranks = std::make_unique<tune::communicator>(std::move(ranks[other]));
  }
  captured_errors errors;
  {
    const std::jthread silent(
        [&] { was_left = be_silent(ranks[2], 0, *here.all[2], hello_of(*here.all[2])); });
    std::vector<std::jthread> threads;
    for (const std::size_t other : {0, 1}) {
      threads.emplace_back([&, other] { fleet::run(*here.all[other], 6); });
    }
  }
  CHECK(was_left);
  CHECK(here.count(0, pretuning_state::tuned) == 6);
  CHECK(here.count(1, pretuning_state::tuned) == 6);
  CHECK(here.all[0]->listener.losses == std::vector<std::string>{"rank 2 has been lost"});
  CHECK(errors.count("rank 2 (process 4711 of ") == 2);
  CHECK(errors.count("has not answered for 0.2 s; after 0.6 s the others go on") == 1);
  CHECK(errors.count("has not answered for 0.6 s and is given up") == 1);
}

TEST_CASE("when the rank that leads does not answer the next one leads") {
  fleet here(3);
  for (const auto& one : here.all) one->options.longest_silence = std::chrono::milliseconds(600);
  auto ranks = tune::communicator::of_threads(3);
  for (const std::size_t other : {1, 2}) {
    here.all[other]->ranks = std::make_unique<tune::communicator>(std::move(ranks[other]));
  }
  captured_errors errors;
  std::array<std::atomic<bool>, 3> was_left{};
  {
    std::vector<std::jthread> threads;
    for (const std::size_t other : {1, 2}) {
      threads.emplace_back([&, other] {
        was_left[other] = be_silent(ranks[0], other, *here.all[0],
                                    tune::detail::fleet_assignment{.devices = {0}, .children = 1});
      });
      threads.emplace_back([&, other] { fleet::run(*here.all[other], 4); });
    }
  }
  for (const std::size_t other : {1, 2}) {
    CHECK(was_left[other]);
    CHECK(here.all[other]->failure.empty());
    CHECK(here.count(other, pretuning_state::tuned) == 4);
    CHECK_FALSE(here.all[other]->ranks->is_left_out());
  }
  CHECK(here.all[1]->content() == here.all[2]->content());
  CHECK(errors.count("the leading rank 0 has not answered for 0.6 s and is given up") == 2);
}

TEST_CASE("a rank that runs again after the others have gone on tunes no more") {
  for (const bool leads : {false, true}) {
    fleet here(2);
    auto ranks = tune::communicator::of_threads(2);
    const std::size_t own = leads ? 0 : 1;
    rank& left = *here.all[own];
    left.ranks = std::make_unique<tune::communicator>(std::move(ranks[own]));
    auto& link = *ranks[1 - own].links().links[own];
    if (leads) {
      link.send(hello_of(*here.all[1]));
      left.tuner.before_trial = [&](const tune::remote_task&, int) {
        link.send(tune::detail::fleet_farewell{});
        link.close();
        while (!left.ranks->is_left_out()) std::this_thread::yield();
      };
      // The other rank has nothing to tell of the keys.
      link.send(tune::detail::fleet_content{});
    } else {
      link.send(tune::detail::fleet_farewell{});
    }
    fleet::run(left, 3);
    CHECK(left.ranks->is_left_out());
    CHECK(left.failure.empty());
    CHECK(here.count(own, pretuning_state::stopped) == 3);
    CHECK(left.tuner.made().size() <= 1);
  }
}

TEST_CASE("a rank at work is heard, though a trial takes longer than a silence may") {
  fleet here(2);
  for (const auto& one : here.all) {
    one->options.longest_silence = std::chrono::milliseconds(300);
    one->tuner.configurations = 2;
    one->tuner.before_trial = [](const tune::remote_task&, int) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    };
  }
  captured_errors errors;
  here.pretune(2);
  here.check_agreement();
  CHECK(here.all[0]->listener.losses.empty());
  CHECK(errors.count("is given up") == 0);
}

TEST_CASE("where the last device of a kind is lost its keys fail, and the others are tuned") {
  fleet here(2);
  here.all[1]->fakes = {device_of("other")};
  here.all[1]->tuner.before_trial = [&](const tune::remote_task&, int) { here.all[1]->die(); };
  here.pretune(3);
  CHECK(here.count(0, pretuning_state::tuned) == 3);
  CHECK(here.count(0, pretuning_state::failed) == 3);
  for (const auto& result : here.all[0]->results) {
    if (result.state != pretuning_state::failed) continue;
    CHECK(result.subject.device.identity.name == "other");
    CHECK(result.reason == "all devices of this kind have been lost with their ranks");
  }
}

TEST_CASE("a rank that is stopped leaves; when the one that leads is stopped all are") {
  fleet leaving(2);
  leaving.all[1]->tuner.before_trial = [&](const tune::remote_task&, int) {
    leaving.all[1]->stopped = true;
  };
  leaving.all[0]->tuner.before_trial = [&](const tune::remote_task&, int) {
    while (!leaving.all[1]->stopped) std::this_thread::yield();
  };
  leaving.pretune(3);
  CHECK(leaving.count(0, pretuning_state::tuned) == 3);
  CHECK(leaving.count(1, pretuning_state::stopped) == 3);

  fleet ended(2);
  ended.all[0]->tuner.before_trial = [&](const tune::remote_task&, int) {
    ended.all[0]->stopped = true;
  };
  ended.all[1]->tuner.before_trial = [&](const tune::remote_task&, int) {
    while (!ended.all[0]->stopped) std::this_thread::yield();
  };
  ended.pretune(3);
  CHECK(ended.count(0, pretuning_state::stopped) >= 1);
  CHECK(ended.count(1, pretuning_state::stopped) >= 1);
  CHECK(ended.all[1]->failure.empty());
}

TEST_CASE("what is tuned inside of a function reaches all ranks") {
  fleet here(3);
  const tune::record_key inner{simulated_key(77), here.all[0]->fakes[0].device().identity()};
  std::atomic<int> at_work = 0;
  for (const auto& one : here.all) {
    one->tuner.before_trial = [&](const tune::remote_task&, int) {
      for (++at_work; at_work < 3;) std::this_thread::yield();
    };
  }
  here.all[2]->tuner.time = [&](const std::string&, int n) {
    here.all[2]->database().store(simulated_function("inner"), inner, {{"n", std::int64_t{3}}},
                                  7.0);
    return 1000.0 + n;
  };
  here.pretune(3);
  here.check_agreement();
  CHECK(here.all[1]->database().find(simulated_function("inner"), inner));
}

TEST_CASE("where ranks have other keys those of the rank that leads count") {
  fleet here(3);
  here.all[1]->more_keys = 2;
  here.all[2]->more_keys = -1;
  here.pretune(2);
  here.check_agreement();
  CHECK(here.all[2]->results.size() == 2);
  CHECK(here.trials() == 2 * 32);
}

TEST_CASE("ranks share one database") {
  fleet here(3);
  for (const auto& one : here.all)
    one->options.tuning.database = here.all[0]->options.tuning.database;
  here.pretune(5);
  here.check_agreement();
  CHECK(here.count(2, pretuning_state::tuned) == 5);
  CHECK(here.trials() == 5 * 32);
}

TEST_CASE("a failure of a key is the same for all, with its reason") {
  fleet here(2);
  for (const auto& one : here.all) {
    one->tuner.before_trial = [](const tune::remote_task& task, int) {
      if (task.key == simulated_key(1)) throw tune::argument_error("its own fault");
    };
    one->tuner.time = [](const std::string&, int) { return 0.0; };
  }
  here.pretune(2);
  here.check_agreement();
  CHECK(here.all[1]->results[0].reason == "its own fault");
  CHECK(here.all[1]->results[1].reason.find("32 x failed") != std::string::npos);
}

TEST_CASE("one rank alone, ranks without devices, and none with one") {
  fleet alone(1);
  alone.pretune(2);
  CHECK(alone.count(0, pretuning_state::tuned) == 2);

  fleet poor(2);
  poor.all[0]->fakes.clear();
  poor.pretune(2);
  poor.check_agreement();
  CHECK(poor.count(0, pretuning_state::tuned) == 2);

  fleet none(2);
  for (const auto& one : none.all) one->fakes.clear();
  none.pretune(1);
  CHECK(none.all[0]->failure == "no rank has a device to tune on");
  CHECK(none.all[1]->failure == "no rank has a device to tune on");
}

TEST_CASE("a rank that has nowhere to keep results fails, and the others go on") {
  fleet here(2);
  here.all[1]->options.tuning.database = here.folder.path().string();
  here.pretune(2);
  CHECK(here.count(0, pretuning_state::tuned) == 2);
  CHECK_FALSE(here.all[1]->failure.empty());
}

TEST_CASE("a rank whose database cannot be written says so before it tunes") {
  fleet here(2);
  std::ofstream(here.folder / "file") << "no folder";
  here.all[1]->options.tuning.database = (here.folder / "file" / "tuning.db").string();
  here.pretune(2);
  CHECK(here.all[1]->failure.find("could not") != std::string::npos);
  CHECK(here.all[1]->tuner.made().empty());
  CHECK(here.count(0, pretuning_state::tuned) == 2);
}

// ---- devices

tune::device_info gpu(const std::string& pci, const std::string& backend = "CUDA") {
  tune::device_info info;
  info.identity = {"GPU", backend, "1"};
  info.backend = backend;
  info.hardware.pci_address = pci;
  return info;
}

using places = std::vector<std::vector<std::size_t>>;

TEST_CASE("ranks of one machine divide its devices, and share them where there are too few") {
  const tune::rank_devices two{"m", {gpu("1"), gpu("2")}};
  CHECK(tune::divide_devices(std::vector{two, two}) == places{{0}, {1}});
  CHECK(tune::divide_devices(std::vector{two}) == places{{0, 1}});
  const tune::rank_devices one{"m", {gpu("1")}};
  CHECK(tune::divide_devices(std::vector{one, one, one}) == places{{0}, {0}, {0}});
  CHECK(tune::divide_devices(std::vector{two, two, two, two}) == places{{0}, {1}, {0}, {1}});
  const tune::rank_devices both{"m", {gpu("1"), gpu("2"), gpu("1", "OpenCL"), gpu("2", "OpenCL")}};
  CHECK(tune::divide_devices(std::vector{both, both}) == places{{0, 2}, {1, 3}});
}

TEST_CASE("devices of other machines, and those that a rank alone may use, are its own") {
  const tune::rank_devices here{"m", {gpu("1")}};
  const tune::rank_devices there{"n", {gpu("1")}};
  const tune::rank_devices beside{"m", {gpu("2")}};
  CHECK(tune::divide_devices(std::vector{here, there, beside}) == places{{0}, {0}, {0}});
  CHECK(tune::divide_devices(std::vector{here, tune::rank_devices{"m", {}}}) == places{{0}, {}});
  // Devices without an identifier are distinguished by their index.
  const tune::rank_devices alike{"m", {gpu(""), gpu("")}};
  CHECK(tune::divide_devices(std::vector{alike, alike}) == places{{0}, {1}});
}

// ---- communicators

/// MPI_Allgather for threads: gives each rank the texts of all ranks.
struct thread_gather {
  explicit thread_gather(std::size_t size)
      : texts(size), meeting(static_cast<std::ptrdiff_t>(size)) {}
  std::vector<std::string> operator()(std::size_t rank, const std::string& mine) {
    texts[rank] = mine;
    meeting.arrive_and_wait();
    auto all = texts;
    meeting.arrive_and_wait();
    return all;
  }
  std::vector<std::string> texts;
  std::barrier<> meeting;
};

TEST_CASE("ranks meet over TCP, and a message goes from each to each") {
  constexpr std::size_t size = 4;
  thread_gather gather(size);
  std::mutex mutex;
  std::multiset<std::string> said;
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      const auto ranks = tune::communicator::meet(
          rank, size, [&](const std::string& mine) { return gather(rank, mine); });
      CHECK(ranks.rank() == rank);
      CHECK(ranks.size() == size);
      auto& links = ranks.links().links;
      for (std::size_t to = 0; to < size; ++to) {
        links[to]->send(tune::detail::fleet_stopped{to, std::to_string(rank)});
      }
      for (std::size_t from = 0; from < size; ++from) {
        if (from == rank) continue;
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        const auto message = links[from]->next(until);
        REQUIRE(message);
        const auto& stopped = std::get<tune::detail::fleet_stopped>(*message);
        CHECK(stopped.device == rank);
        const std::lock_guard lock(mutex);
        said.insert(stopped.reason);
      }
    });
  }
  threads.clear();
  CHECK(said.size() == size * (size - 1));
  CHECK(said.count("2") == size - 1);
}

/// A connection to a port of this machine that says nothing.
tune::detail::file_descriptor connect_silently(int port) {
  tune::detail::file_descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ::sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = ::htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(made.get(), reinterpret_cast<const ::sockaddr*>(&to), sizeof to) == 0);
  return made;
}

// Each for itself they would take more than the minute that a meeting may last.
TEST_CASE("connections that say nothing do not hold up the ranks that meet") {
  thread_gather gather(2);
  std::vector<tune::detail::file_descriptor> silent;
  const auto meet = [&](std::size_t rank) {
    int gathered = 0;
    const auto ranks = tune::communicator::meet(rank, 2, [&](const std::string& mine) {
      const auto all = gather(rank, mine);
      if (rank == 0 || ++gathered < 2) return all;
      std::istringstream words(all[0]);  // the machine, the version, the token and the port
      std::string word;
      int port = 0;
      words >> word >> word >> word >> port;
      for (int i = 0; i < 20; ++i) silent.push_back(connect_silently(port));
      return all;
    });
    CHECK(ranks.size() == 2);
  };
  const std::jthread first([&] { meet(0); });
  meet(1);
}

TEST_CASE("ranks of two versions do not meet") {
  const auto gather = [](const std::string& mine) {
    std::string other = mine;
    const std::string version(tune::library_version());
    if (const auto at = other.find(version); at != std::string::npos) {
      other.replace(at, version.size(), "9.9.9");
    }
    return std::vector{mine, other};
  };
  CHECK_THROWS_WITH_AS(static_cast<void>(tune::communicator::meet(0, 2, gather)),
                       doctest::Contains("rank 1 has libtune 9.9.9, and rank 0 has "), tune::error);
  CHECK_THROWS_AS(static_cast<void>(tune::communicator::meet(0, 3,
                                                             [](const auto& mine) {
                                                               return std::vector{mine, mine};
                                                             })),
                  tune::argument_error);
}

TEST_CASE("a connection that carries nonsense is lost, and one whose message is cut short") {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::array<int, 2> pair{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) == 0);
  tune::detail::rank_link link{tune::detail::file_descriptor(pair[0])};
  tune::detail::file_descriptor other(pair[1]);
  SUBCASE("nonsense") {
    REQUIRE(::send(other.get(), "GET / HTTP/1.1 and more", 23, MSG_NOSIGNAL) == 23);
  }
  SUBCASE("cut short") {
    REQUIRE(::send(other.get(), "LTFL", 4, MSG_NOSIGNAL) == 4);
    other = tune::detail::file_descriptor();
  }
  CHECK_FALSE(link.next(until));
  CHECK(link.is_lost());
}

TEST_CASE("what was sent before a connection was closed arrives") {
  auto ranks = tune::communicator::of_threads(2);
  auto& link = *ranks[0].links().links[1];
  CHECK_FALSE(link.is_lost());
  CHECK_FALSE(link.next(std::chrono::steady_clock::now()));
  ranks[1].links().links[0]->send(tune::detail::fleet_end{});
  ranks.pop_back();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  CHECK(link.next(until));
  CHECK_FALSE(link.next(until));
  CHECK(link.is_lost());
  link.send(tune::detail::fleet_end{});
  CHECK(ranks[0].links().links[0]->is_lost());  // to itself
}

}  // namespace fleet_test
