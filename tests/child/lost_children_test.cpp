// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Searches whose configurations end, hang or spoil the children that try them.
#include <algorithm>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/prune.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/error.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/child/workbench.hpp"

namespace lost_children_test {

using isolated::flaw;
using isolated::sample_key;
using isolated::sample_tuning;
using isolated::workbench;
using tune::outcome;

LIBTUNE_DEVICE_TEST_CASE("a search for a goal goes on in another child when one is lost", device) {
  const tune::testing::scoped_environment no_goal("LIBTUNE_OBJECTIVE", nullptr);
  workbench bench(device);
  const auto key = bench.key(flaw::segfault, 4);
  CHECK(isolated::goal_autotune(bench.context, key, bench.options()) == sample_tuning{8});
  CHECK(bench.bad_trial(4).outcome == outcome::crashed);
}

LIBTUNE_DEVICE_TEST_CASE(
    "a configuration that ends or spoils its process is a trial with a reason, and costs no other",
    device) {
  struct expectation {
    flaw what;
    outcome becomes;
    std::string because;
  };
  std::vector<expectation> all{
      {flaw::segfault, outcome::crashed,
       "its process ended during its first run: killed by signal 11 (Segmentation fault)"},
      {flaw::aborts, outcome::crashed,
       "its process ended during its preparation: killed by signal 6 (Aborted)"},
      {flaw::exits, outcome::crashed, "its process ended during its preparation: exit status 3"},
      {flaw::hangs, outcome::timed_out, "during its first run; the limit was 1 s"},
      {flaw::hangs_generated, outcome::timed_out, "during its preparation; the limit was 1 s"},
      {flaw::throws, outcome::failed, "it does not want to"},
      {flaw::closes, outcome::crashed, "it closed or replaced the descriptors of its process"},
      {flaw::babbles, outcome::crashed, "it wrote to the descriptors of its process"},
      {flaw::seals, outcome::failed, "it sealed its process (tune::seal)"},
      {flaw::lowers_limit, outcome::failed, "it lowered the limit RLIMIT_NOFILE"},
      {flaw::changes_folder, outcome::failed, "it changed the current folder"},
      {flaw::blocks_signals, outcome::failed, "it changed which signals"},
      {flaw::leaves_handler, outcome::failed, "it left a handler of signal 14"}};
  // Sanitizers need more memory than a limit leaves them, and end the process.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  all.push_back({flaw::out_of_memory, outcome::out_of_memory, "bad_alloc"});
#endif
  for (const expectation& expected : all) {
    CAPTURE(static_cast<int>(expected.what));
    workbench bench(device);
    CHECK(isolated::sample_autotune(bench.context, bench.key(expected.what), bench.options()) ==
          sample_tuning{1});
    const tune::trial& bad = bench.bad_trial();
    CAPTURE(bad.reason);
    CHECK(outcome_name(bad.outcome) == outcome_name(expected.becomes));
    CHECK(bad.reason.find(expected.because) != std::string::npos);
    REQUIRE(bench.events->finished.size() == 1);
    const auto& trials = bench.events->finished.front().trials;
    CHECK(trials.size() == 8);
    CHECK(std::ranges::count(trials, outcome::measured, &tune::trial::outcome) == 7);
    CHECK(bench.events->lines.front() == "started isolated.sample exhaustive 8 taken over 0");
    CHECK(bench.events->lines.back() == "ended with n=1 of 8");
    // A configuration that finds no memory is tried once more.
    bench.check_that_little_ran_twice(expected.what == flaw::out_of_memory ? 1 : 0);
  }
}

LIBTUNE_DEVICE_TEST_CASE(
    "one end that something else may have caused is not the configuration's fault", device) {
  for (const flaw what :
       {flaw::terminated_once, flaw::killed_once, flaw::paused_once, flaw::short_of_memory_once}) {
    CAPTURE(static_cast<int>(what));
    workbench bench(device);
    const sample_key key = bench.key(what, 1);
    CHECK(isolated::sample_autotune(bench.context, key, bench.options()) == sample_tuning{1});
    CHECK(std::filesystem::exists(bench.path("log.once")));
    CHECK(outcome_name(bench.bad_trial(1).outcome) == "measured");
  }
}

LIBTUNE_DEVICE_TEST_CASE(
    "where the application ignores SIGCHLD ends are unknown, and nothing is "
    "blamed for one of them",
    device) {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before {};
  ::sigaction(SIGCHLD, &ignored, &before);
  for (const flaw what : {flaw::terminated_once, flaw::segfault}) {
    CAPTURE(static_cast<int>(what));
    workbench bench(device);
    CHECK(isolated::sample_autotune(bench.context, bench.key(what), bench.options()) ==
          sample_tuning{1});
    const tune::trial& bad = bench.bad_trial();
    CAPTURE(bad.reason);
    CHECK(outcome_name(bad.outcome) == (what == flaw::segfault ? "crashed" : "measured"));
    if (what != flaw::segfault) continue;
    CHECK(bad.reason.find("ended twice during its first run") != std::string::npos);
    CHECK(bad.reason.find("ignores SIGCHLD") != std::string::npos);
  }
  ::sigaction(SIGCHLD, &before, nullptr);
}

LIBTUNE_DEVICE_TEST_CASE(
    "a configuration that forks and goes on in both processes is measured once", device) {
  workbench bench(device);
  CHECK(isolated::sample_autotune(bench.context, bench.key(flaw::forks), bench.options()) ==
        sample_tuning{1});
  const auto& trials = bench.events->finished.back().trials;
  CHECK(std::ranges::count(trials, outcome::measured, &tune::trial::outcome) == 8);
  bench.check_that_little_ran_twice();
}

LIBTUNE_DEVICE_TEST_CASE(
    "a process that a configuration leaves in a session of its own ends with "
    "the child",
    device) {
  workbench bench(device);
  CHECK(isolated::sample_autotune(bench.context, bench.key(flaw::leaves_session),
                                  bench.options()) == sample_tuning{1});
  const auto left = isolated::read_log(bench.path("log.left"));
  REQUIRE(left.size() == 1);
  // Of a process that nobody has taken the end of, nothing but its number is left.
  std::ifstream commands("/proc/" + left.front() + "/cmdline");
  CHECK((std::string(std::istreambuf_iterator<char>(commands), {})).empty());
}

LIBTUNE_DEVICE_TEST_CASE(
    "two incidents are for ever, one is not, and force tries once more; until they are cleared",
    device) {
  workbench bench(device);
  const sample_key key = bench.key(flaw::segfault);
  auto again = bench.options();
  again.mode = tune::tuning_mode::force;
  const auto times_run = [&] {
    CHECK(isolated::sample_autotune(bench.context, key, again) == sample_tuning{1});
    return std::ranges::count(isolated::read_log(bench.path("log")), "5");
  };
  CHECK(times_run() == 1);
  CHECK(times_run() == 2);
  CHECK(times_run() == 3);
  CHECK(times_run() == 3);
  CHECK(bench.events->trials.back().outcome != outcome::crashed);
  const auto last = bench.events->finished.back();
  const auto bad = std::ranges::find(last.trials, outcome::crashed, &tune::trial::outcome);
  REQUIRE(bad != last.trials.end());
  CHECK(bad->origin == tune::trial_origin::cached);
  CHECK(bad->reason.ends_with("(it is on the denylist after 3 incidents; see tunedb denylist)"));

  const auto all = [](const tune::stored_incident&) { return true; };
  CHECK(tune::forget_incidents(bench.path("tuning.db"), tune::incident_outcomes(), all) == 3);
  CHECK(times_run() == 4);
}

LIBTUNE_DEVICE_TEST_CASE("where all crash the error has the reasons, and remains", device) {
  workbench bench(device);
  sample_key key = bench.key(flaw::aborts, 1);
  key.configurations = 1;
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_WITH_AS(isolated::sample_autotune(bench.context, key, bench.options()),
                         doctest::Contains("1 x crashed: its process ended during its preparation"),
                         tune::tuning_failed_error);
  }
}

LIBTUNE_DEVICE_TEST_CASE(
    "without a database this process remembers what lost children had measured", device) {
  workbench bench(device);
  auto options = bench.options();
  options.database = "";
  CHECK(isolated::sample_autotune(bench.context, bench.key(flaw::segfault), options) ==
        sample_tuning{1});
  CHECK(bench.bad_trial().outcome == outcome::crashed);
  CHECK(bench.events->finished.front().trials.size() == 8);
  bench.check_that_little_ran_twice();
}

LIBTUNE_DEVICE_TEST_CASE("a child that is lost in the second search does not repeat the first",
                         device) {
  workbench bench(device);
  const sample_key key = bench.key(flaw::segfault);
  CHECK(isolated::staged_autotune(bench.context, key, bench.options()) == sample_tuning{1});
  const auto log = isolated::read_log(bench.path("log"));
  // The best are compared again, in either.
  CHECK(log.size() >= 8 + 9);
  CHECK(log.size() <= 8 + 9 + 2 * isolated::measured_again);
  CHECK(bench.events->finished.size() == 2);
  CHECK(std::ranges::count_if(bench.events->lines, [](const std::string& line) {
          return line.starts_with("started");
        }) == 2);
}

LIBTUNE_DEVICE_TEST_CASE("children that end outside of configurations are given up", device) {
  workbench bench(device);
  CHECK_THROWS_WITH_AS(
      isolated::sample_autotune(bench.context, bench.key(flaw::dies_outside), bench.options()),
      doctest::Contains("3 children in a row"), tune::error);
}

std::size_t count_open_files() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

LIBTUNE_DEVICE_TEST_CASE("nothing is left of children: no process, no file", device) {
  workbench bench(device);
  isolated::sample_autotune(bench.context, {}, bench.options());
  const auto files = count_open_files();
  isolated::sample_autotune(bench.context, bench.key(flaw::segfault), bench.options());
  isolated::sample_autotune(bench.context, bench.key(flaw::hangs), bench.options());
  CHECK(count_open_files() == files);
}

LIBTUNE_DEVICE_TEST_CASE(
    "searches with each flaw, again and again, find the best and leave nothing" * doctest::skip(),
    device) {
  constexpr int rounds = 20;
  workbench first(device);
  isolated::sample_autotune(first.context, {}, first.options());
  // A process keeps the file of the locks of each database that is there, so two are open.
  const auto files = [&] {
    workbench second(device);
    isolated::sample_autotune(second.context, {}, second.options());
    return count_open_files();
  }();
  for (int round = 0; round < rounds; ++round) {
    for (int what = 0; what <= static_cast<int>(flaw::leaves_session); ++what) {
      if (static_cast<flaw>(what) == flaw::dies_outside) continue;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
      if (static_cast<flaw>(what) == flaw::out_of_memory) continue;
#endif
      CAPTURE(round);
      CAPTURE(what);
      workbench bench(device);
      const sample_key key = bench.key(static_cast<flaw>(what), 2 + round % 7);
      CHECK(isolated::sample_autotune(bench.context, key, bench.options()) == sample_tuning{1});
      CHECK(bench.events->finished.back().trials.size() == 8);
      CHECK(count_open_files() == files);
    }
  }
}

}  // namespace lost_children_test
