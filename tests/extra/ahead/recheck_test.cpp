// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Comparisons of stored results, with simulated children.
#include "libtune/extra/ahead/recheck.hpp"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/extra/ahead/canary.hpp"
#include "libtune/extra/ahead/recheck_work.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/extra/ahead/simulated_tuner.hpp"

namespace recheck_test {

using pretuned::equal_devices;
using pretuned::simulated_function;
using pretuned::simulated_key;
using tune::recheck_verdict;

std::vector<tune::named_value> values(int n) { return {{"n", std::int64_t{n}}}; }

/// Devices, an application whose configuration n takes 1000 + n ns, and a database.
struct bench {
  explicit bench(std::size_t count = 1) : devices(count) {
    tuner.device_name = [this](const tune::device& of) { return devices.name(of); };
    options.tuning.database = path;
    options.tuning.system_databases = std::vector<std::string>{};
  }

  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  equal_devices devices;
  pretuned::simulated_tuner tuner;
  tune::recheck_options options;
  std::vector<tune::remote_function> functions{{simulated_function(), values(32)}};

  tune::device_identity device() const { return devices.all().front().identity(); }
  tune::device_identity older_device() const {
    tune::device_identity older = device();
    older.driver_version = "0.1";
    return older;
  }
  /// Stores a result with trials of these configurations.
  void store(int rows, int winner, const std::vector<int>& trials,
             std::optional<tune::device_identity> of = {}, int version = 0) const {
    tune::tuning_database database(path);
    tune::function_identity function = simulated_function();
    function.version = version;
    const tune::record_key key{simulated_key(rows), of.value_or(device())};
    const auto search = database.begin_search(function, key);
    for (const int n : trials) {
      database.add_trial(
          search, {.configuration = values(n), .outcome = "measured", .score_ns = 1000.0 + n});
    }
    database.finish_search(search, "found");
    database.store(function, key, values(winner), 1000.0 + winner);
  }
  std::vector<tune::recheck_result> recheck(const tune::winner_choice& choice = {}) {
    const auto found = tune::find_winners(path, choice, devices.all());
    return tune::recheck_with([this](const tune::remote_task& task) { return tuner(task); },
                              functions, found.winners, devices.all(), options);
  }
  std::optional<tune::record> stored(int rows) const {
    return tune::tuning_database(path).find(simulated_function(), {simulated_key(rows), device()});
  }
};

TEST_CASE("a stored result is compared with its best trials and the test default alone") {
  bench here;
  here.store(1, 3, {5, 3, 4, 9, 8, 7});
  here.options.runners_up = 2;
  const auto results = here.recheck();
  REQUIRE(results.size() == 1);
  CHECK(results[0].verdict == recheck_verdict::holds);
  CHECK(results[0].score == tune::run_time(1003));
  CHECK(results[0].compared == 4);
  CHECK(here.tuner.tried() == std::multiset<int>{3, 4, 5, 32});
}

TEST_CASE("further rivals are compared too, each with its slowdown") {
  bench here;
  here.store(1, 3, {3, 4});
  here.options.rivals = [](const tune::stored_winner& of) {
    CHECK(of.key == simulated_key(1));
    return std::vector<std::vector<tune::named_value>>{values(11)};
  };
  const auto result = here.recheck().at(0);
  REQUIRE(result.rivals.size() == 3);
  CHECK(result.rivals[0].configuration == values(11));
  CHECK(result.rivals[0].score == tune::run_time(1011));
  REQUIRE(result.rivals[0].loss);
  CHECK(result.rivals[0].loss->estimate == doctest::Approx(1011.0 / 1003 - 1));
}

TEST_CASE("a comparison checks every result and stores nothing") {
  bench here;
  here.store(1, 3, {3, 4});
  here.tuner.before_trial = [](const tune::remote_task& task, int) {
    CHECK(task.options.verify == tune::result_check::every);
    CHECK(task.options.given_by == tune::option_source::command);
    CHECK(task.context_options.mode == tune::tuning_mode::cached);
    CHECK(task.peaks.empty());
    CHECK(task.kept != nullptr);
  };
  here.recheck();
  tune::tuning_database database(here.path);
  CHECK(database.trials(simulated_function(), {simulated_key(1), here.device()}).size() == 2);
}

TEST_CASE("a loss is confirmed by a second comparison of the two") {
  bench here;
  here.options.within = 0.001;
  here.store(1, 20, {20, 21});
  here.store(2, 2, {2, 9});
  here.tuner.time = [](const std::string&, int n) { return n == 21 ? 900.0 : 1000.0 + n; };
  const auto results = here.recheck();
  REQUIRE(results.size() == 2);
  CHECK(results[0].verdict == recheck_verdict::lost);
  CHECK(results[0].best == values(21));
  CHECK(results[0].loss->estimate == doctest::Approx(1020.0 / 900 - 1));
  CHECK(results[1].verdict == recheck_verdict::holds);
  CHECK(here.tuner.tried() == std::multiset<int>{2, 9, 20, 20, 21, 21, 32, 32});
}

TEST_CASE("a loss that the second comparison does not show is none") {
  bench here;
  here.store(1, 20, {20, 21});
  std::atomic<int> runs = 0;
  here.tuner.time = [&](const std::string&, int n) {
    return n == 20 && runs++ == 0 ? 5000.0 : 1000.0 + n;
  };
  CHECK(here.recheck().at(0).verdict == recheck_verdict::holds);
}

TEST_CASE("a result that does not work is wrong, and does not hinder others") {
  bench here;
  here.store(1, 5, {5, 6});
  here.store(2, 6, {6, 7});
  here.tuner.time = [](const std::string&, int n) { return n == 5 ? -1.0 : 1000.0 + n; };
  const auto results = here.recheck();
  REQUIRE(results.size() == 2);
  CHECK(results[0].verdict == recheck_verdict::wrong);
  CHECK(results[0].fault == tune::outcome::failed);
  CHECK(results[0].best == values(6));
  CHECK(results[1].verdict == recheck_verdict::holds);
}

TEST_CASE("an error of a comparison is the verdict of its key alone") {
  bench here;
  here.store(1, 5, {5});
  here.store(2, 6, {6});
  here.tuner.before_trial = [](const tune::remote_task& task, int) {
    if (task.key == simulated_key(1)) throw std::runtime_error("three children were lost");
  };
  const auto results = here.recheck();
  CHECK(results[0].verdict == recheck_verdict::unknown);
  CHECK(results[0].reason == "three children were lost");
  CHECK(results[1].verdict == recheck_verdict::holds);
}

TEST_CASE("results for which the application has no use are skipped, with the reason") {
  bench here;
  here.store(1, 5, {5}, {}, 1);
  here.store(2, 99, {99, 4});  // not in the space
  const auto results = here.recheck();
  REQUIRE(results.size() == 2);
  CHECK(results[0].winner.function.version == 0);
  CHECK(results[0].verdict == recheck_verdict::skipped);
  CHECK(results[0].reason.find("not in the present space") != std::string::npos);
  CHECK(results[1].verdict == recheck_verdict::skipped);
  CHECK(results[1].reason == "stored by version 1; the application has version 0");
  here.functions.front().identity.value_fields.push_back({"m", tune::value_type::int32});
  CHECK(here.recheck()[0].reason == "the function of the application has other fields");
  here.functions.clear();
  CHECK(here.recheck()[0].reason == "the application does not have the function");
}

TEST_CASE("results of another driver count, those of other devices do not") {
  bench here;
  here.store(1, 5, {5}, here.older_device());
  here.store(2, 5, {5}, here.older_device());
  here.store(2, 6, {6});
  tune::device_identity other = here.device();
  other.name = "another device";
  here.store(3, 5, {5}, other);
  const auto found = tune::find_winners(here.path, {}, here.devices.all());
  CHECK(found.of_other_devices == 1);
  REQUIRE(found.winners.size() == 2);
  CHECK(found.winners[0].stored_for == here.older_device());
  CHECK(found.winners[0].device == here.device());
  CHECK(found.winners[1].stored_for == here.device());
  CHECK(found.winners[1].values == values(6));
  const auto old = tune::find_winners(here.path, {.driver = "0.1"}, here.devices.all());
  REQUIRE(old.winners.size() == 2);
  CHECK(old.winners[1].values == values(5));
  const auto first = tune::find_winners(
      here.path, {.takes = [](const auto&, const auto& key) { return key == simulated_key(1); }},
      here.devices.all());
  CHECK(first.winners.size() == 1);
  CHECK(here.recheck()[0].verdict == recheck_verdict::holds);
  CHECK_FALSE(here.stored(1));
}

TEST_CASE("a repair stores the better configuration, with its trials") {
  bench here;
  here.options.repair = true;
  here.store(1, 20, {20, 2});
  here.store(2, 6, {6, 7});
  here.store(3, 7, {7}, here.older_device());
  here.tuner.time = [](const std::string&, int n) { return 100.0 * n; };
  const auto results = here.recheck();
  REQUIRE(results.size() == 3);
  CHECK(results[0].verdict == recheck_verdict::lost);
  CHECK(results[0].is_stored);
  CHECK_FALSE(results[1].is_stored);
  CHECK(results[2].verdict == recheck_verdict::holds);
  CHECK(results[2].is_stored);
  CHECK(here.stored(1)->values == values(2));
  CHECK(here.stored(1)->score_ns == 200);
  CHECK(here.stored(3)->values == values(7));
  tune::tuning_database database(here.path);
  const tune::record_key key{simulated_key(1), here.device()};
  CHECK(database.trials(simulated_function(), key).size() == 3);
  CHECK(database.latest_search_result(simulated_function(), key)->result == "found");
  CHECK(database.origin(simulated_function(), key, values(2)));
  const auto again = here.recheck();
  CHECK(std::ranges::all_of(again,
                            [](const auto& one) { return one.verdict == recheck_verdict::holds; }));
}

TEST_CASE("a repair without a working configuration keeps the result, and says so") {
  bench here;
  here.options.repair = true;
  here.store(1, 5, {5});
  here.tuner.time = [](const std::string&, int) { return -1.0; };
  const auto results = here.recheck();
  CHECK(results[0].verdict == recheck_verdict::wrong);
  CHECK_FALSE(results[0].is_stored);
  CHECK_FALSE(results[0].store_failure.empty());
  CHECK(here.stored(1)->values == values(5));
}

TEST_CASE("a repair leaves a result that was replaced meanwhile") {
  bench here;
  here.options.repair = true;
  here.store(1, 20, {20, 2});
  here.tuner.time = [](const std::string&, int n) { return 100.0 * n; };
  std::atomic<bool> replaced = false;
  here.tuner.before_trial = [&](const tune::remote_task&, int) {
    if (!replaced.exchange(true)) here.store(1, 4, {4});
  };
  const auto results = here.recheck();
  CHECK_FALSE(results[0].is_stored);
  CHECK(here.stored(1)->values == values(4));
}

/// Notes the calls, and stops after one result.
struct one_result final : tune::recheck_listener {
  std::size_t count = 0;
  std::set<std::size_t> begun;
  std::atomic<std::size_t> over = 0;
  void planned(std::size_t all) override { count = all; }
  void began(std::size_t number, const tune::tuning_subject&) override { begun.insert(number); }
  void ended(std::size_t, const tune::recheck_result&) override { ++over; }
};

TEST_CASE("a stop leaves the other results without a verdict") {
  bench here;
  for (int rows = 1; rows <= 4; ++rows) here.store(rows, 5, {5});
  one_result listener;
  here.options.listener = &listener;
  here.options.stop = [&] { return listener.over > 0; };
  const auto results = here.recheck();
  CHECK(listener.count == 4);
  CHECK(listener.over == 4);
  CHECK(listener.begun.size() == 1);
  CHECK(results[0].verdict == recheck_verdict::holds);
  CHECK(results[3].is_stopped);
  CHECK(results[3].verdict == recheck_verdict::unknown);
}

TEST_CASE("equal devices share the results") {
  bench here(2);
  for (int rows = 1; rows <= 20; ++rows) here.store(rows, 5, {5});
  CHECK(here.recheck().size() == 20);
  CHECK(here.tuner.made().size() == 40);
}

TEST_CASE("a result for a device that is not here is unknown") {
  bench here;
  tune::stored_winner winner{.function = simulated_function(),
                             .key = simulated_key(1),
                             .device = here.older_device(),
                             .stored_for = here.older_device(),
                             .values = values(5)};
  const auto results =
      tune::recheck_with([&](const tune::remote_task& task) { return here.tuner(task); },
                         here.functions, std::vector{winner}, here.devices.all(), here.options);
  CHECK(results[0].verdict == recheck_verdict::unknown);
  CHECK(results[0].reason == "its device is not here");
}

TEST_CASE("a missing database has no results") {
  bench here;
  CHECK(tune::find_winners(here.path, {}, here.devices.all()).winners.empty());
}

/// A result with this verdict and one rival, the shared one.
tune::recheck_result compared(recheck_verdict verdict, const tune::recheck_rival& rival) {
  tune::recheck_result result;
  result.verdict = verdict;
  result.reason = "because";
  result.rivals = {rival};
  return result;
}

tune::canary_decision decided(tune::recheck_result result, bool has_shared = true, int shared = 2) {
  const std::vector<tune::named_value> of_store = values(shared);
  tune::decide_canary(result, has_shared ? &of_store : nullptr, 0.02);
  CHECK_FALSE(result.decision_reason.empty());
  return result.decision;
}

TEST_CASE("a new result is promoted if it is better than the shared one") {
  using tune::canary_decision;
  const auto slower = [](double by, double least) {
    return tune::recheck_rival{.configuration = values(2),
                               .outcome = tune::outcome::measured,
                               .score = tune::run_time(100),
                               .loss = tune::recheck_loss{.estimate = by, .lower = least}};
  };
  using enum recheck_verdict;
  CHECK(decided(compared(holds, slower(0.1, 0.08))) == canary_decision::promoted);
  CHECK(decided(compared(holds, slower(0.01, 0.005))) == canary_decision::kept);
  CHECK(decided(compared(holds, slower(0.1, -0.1))) == canary_decision::kept);
  CHECK(decided(compared(holds, slower(0.1, 0.08)), false) == canary_decision::promoted);
  CHECK(decided(compared(holds, slower(0.1, 0.08)), true, 5) == canary_decision::promoted);
  CHECK(decided(compared(wrong, slower(0.1, 0.08))) == canary_decision::withdrawn);
  CHECK(decided(compared(lost, slower(-0.1, -0.12))) == canary_decision::withdrawn);
  CHECK(decided(compared(unknown, slower(0.1, 0.08))) == canary_decision::undecided);
  CHECK(decided(compared(skipped, slower(0.1, 0.08)), false) == canary_decision::undecided);
  tune::recheck_rival broken{.configuration = values(2),
                             .outcome = tune::outcome::wrong_result,
                             .reason = "7 of 9 differ",
                             .is_at_fault = true};
  CHECK(decided(compared(holds, broken)) == canary_decision::promoted);
  broken.is_at_fault = false;
  CHECK(decided(compared(holds, broken)) == canary_decision::undecided);
}

}  // namespace recheck_test
