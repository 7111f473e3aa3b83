// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// tunedb pretune as an operator runs it, with an application of the tests.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <vector>

#include "libtune/device/devices.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/ranged/portfolio_core.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace pretune_test {

using namespace tune::testing;
using isolated::sample_key;
using nlohmann::json;

std::vector<json> objects_in(const std::string& text) {
  std::vector<json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(json::parse(line));
  return objects;
}

tune::function_identity function() {
  return {"isolated.sample", 0, tune::describe_fields<sample_key>(),
          tune::describe_fields<isolated::sample_tuning>()};
}

/// A folder with room for a database and a file of keys, and one device to tune for.
struct bench {
  temporary_directory folder;
  std::string database = (folder / "tuning.db").string();
  std::string keys = (folder / "keys.json").string();
  std::string log = (folder / "log").string();
  scoped_environment variable{"LIBTUNE_DB", database.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment missed{"LIBTUNE_MISSED", nullptr};
  scoped_environment device{"LIBTUNE_DEVICE", "0"};

  /// What it writes to standard error is a part of the output, unless that is JSON.
  ended pretune(const std::string& arguments) const {
    const char* error = contains(arguments, "--json") ? " 2> /dev/null" : " 2>&1";
    return run(std::string("'") + LIBTUNE_TUNEDB + "' pretune --app '" + LIBTUNE_APPLICATION +
               "' " + arguments + error);
  }
  json entry(const sample_key& key) const {
    json fields = json::object();
    for (const auto& [name, value] : tune::to_values(key)) {
      if (const auto* number = std::get_if<std::int64_t>(&value)) fields[name] = *number;
      if (const auto* text = std::get_if<std::string>(&value)) fields[name] = *text;
    }
    return {{"function", "isolated.sample"}, {"key", fields}};
  }
  void write_keys(const json& entries) const { std::ofstream(keys) << entries; }
  sample_key slow_key() const { return {.configurations = 16, .sleep_us = 30'000, .log = log}; }
  /// Has the slow key tuned, and sends a signal when some configurations have been run.
  ended pretune_until(int signal) const {
    write_keys({entry(slow_key())});
    // The shell's exec makes tunedb the process whose number the file holds.
    const std::string number = (folder / "number").string();
    const std::jthread interrupter([&] {
      while (isolated::read_log(log).size() < 3) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      ::kill(std::stoi(isolated::read_log(number).at(0)), signal);
    });
    return run("echo $$ > '" + number + "'; exec '" + LIBTUNE_TUNEDB + "' pretune --app '" +
               LIBTUNE_APPLICATION + "' --keys " + keys + " 2>&1");
  }
  tune::record_key record_of(const sample_key& key) const {
    return {tune::to_values(key), tune::all_devices().front().identity()};
  }
};

/// How many processes run the application.
int count_applications() {
  int count = 0;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    std::error_code failure;
    const auto program = std::filesystem::read_symlink(process.path() / "exe", failure);
    if (!failure && program == LIBTUNE_APPLICATION) ++count;
  }
  return count;
}

template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

bool has_device() {
  if (!tune::all_devices().empty()) return true;
  skip("there is no device");
  return false;
}

TEST_CASE_FIXTURE(bench, "what an application can tune is listed, with the fields of the keys") {
  const ended text = pretune("--list");
  CHECK(text.code == 0);
  CHECK(contains(text.output, "isolated.sample__0"));
  CHECK(contains(text.output, "flaw (enumeration), bad (int32)"));
  const json list = json::parse(pretune("--list --json").output);
  CHECK(list[0]["function"] == "isolated.sample");
  CHECK(list[0]["key"]["sleep_us"]["type"] == "int32");
  CHECK(list[0]["test_default"] == json{{"n", 1}});
}

TEST_CASE_FIXTURE(bench,
                  "a database in which nothing can be stored is refused before the first search") {
  if (!has_device()) return;
  const sample_key key{.configurations = 4, .log = log};
  write_keys({entry(key)});
  const auto open = folder / "open";
  std::filesystem::create_directory(open);
  std::filesystem::permissions(open, std::filesystem::perms::all);
  for (const std::string& options : {std::string(), std::string(" --force")}) {
    const scoped_environment database("LIBTUNE_DB", (open / "x.db").c_str());
    const ended refused = pretune("--keys " + keys + options);
    CAPTURE(refused.output);
    CHECK(refused.code == 1);
    CHECK(contains(refused.output, "chmod"));
    CHECK(isolated::read_log(log).empty());
  }
}

TEST_CASE_FIXTURE(bench,
                  "keys of a file are tuned, told and stored, and left alone the second time") {
  if (!has_device()) return;
  const sample_key first{.configurations = 4};
  const sample_key second{.configurations = 5};
  write_keys({entry(first), entry(second)});
  const ended once = pretune("--keys " + keys);
  CAPTURE(once.output);
  CHECK(once.code == 0);
  CHECK(contains(once.output, "[2/2] isolated.sample__0 ("));
  CHECK(contains(once.output, "tuned in "));
  const auto found = tune::tuning_database(database).find(function(), record_of(second));
  REQUIRE(found);
  CHECK(to_string(found->values) == "n=1");

  const ended again = pretune("--json --keys " + keys);
  CHECK(again.code == 0);
  const auto objects = objects_in(again.output);
  REQUIRE(objects.size() == 5);
  CHECK(objects[1]["result"] == "present");
  CHECK(objects.back()["present"] == 2);
  const ended forced = pretune("--force --json --keys " + keys);
  CHECK(objects_in(forced.output).back()["tuned"] == 2);
}

TEST_CASE_FIXTURE(bench, "a bad file of keys is refused before anything is tuned") {
  json wrong = entry({.configurations = 4, .log = log});
  wrong["key"]["bad"] = "none";
  write_keys({entry({.configurations = 4, .log = log}), wrong});
  const ended refused = pretune("--keys " + keys);
  CHECK(refused.code == 2);
  CHECK(contains(refused.output, "entry 2: the field 'bad' is int32"));
  CHECK(isolated::read_log(log).empty());
}

TEST_CASE_FIXTURE(bench, "what to tune has to be said, and the error says how") {
  CHECK(pretune("").code == 2);
  CHECK(contains(pretune("").output, "--keys FILE"));
  const ended no_key = pretune("--function isolated.sample");
  CHECK(no_key.code == 2);
  CHECK(contains(no_key.output, "They take flaw (enumeration)"));
  CHECK(contains(pretune("--function other").output, "it has isolated.sample__0"));
  CHECK(pretune("--missed --keys x").code == 2);
  CHECK(contains(pretune("--missed --budget soon").output, "--budget takes limits"));
}

TEST_CASE_FIXTURE(
    bench, "one key can be given on the command line, and what follows -- is the application's") {
  if (!has_device()) return;
  const ended one = pretune(
      "--function isolated.sample --arg flaw=none --arg bad=0 --arg configurations=4 "
      "--arg sleep_us=0 --arg log= -- --rate 5");
  CAPTURE(one.output);
  CHECK(one.code == 0);
  CHECK(contains(one.output, "tuned in "));
}

TEST_CASE_FIXTURE(bench, "its own strategy and budget win over the environment") {
  if (!has_device()) return;
  const scoped_environment budget("LIBTUNE_BUDGET", "1 trial");
  const scoped_environment strategy("LIBTUNE_STRATEGY", "nonsense");
  const std::string one =
      "--function isolated.sample --arg flaw=none --arg bad=0 --arg configurations=8 "
      "--arg sleep_us=0 --arg log= ";
  const ended wrong = pretune(one);
  CHECK(wrong.code == 6);
  CHECK(contains(wrong.output, "LIBTUNE_STRATEGY is 'nonsense'"));
  const ended right = pretune(one + "--strategy random --budget '3 trials'");
  CAPTURE(right.output);
  CHECK(right.code == 0);
  CHECK(contains(right.output, "strategy random (command line), limits 3 trials (command line)"));
  const ended unknown = pretune(one + "--force --strategy guess");
  CHECK(unknown.code == 6);
  CHECK(contains(unknown.output, "strategies are exhaustive, random, local, genetic, model, near"));
}

TEST_CASE_FIXTURE(
    bench, "keys are tuned for the goal of the command, and the result is that goal's alone") {
  if (!has_device()) return;
  const scoped_environment goal{"LIBTUNE_OBJECTIVE", "min time, time <= 1 s"};
  const sample_key key{.configurations = 4};
  write_keys({entry(key)});
  CHECK(contains(pretune("--list").output, "isolated.goal..max_load__0"));
  const ended made = pretune("--keys " + keys + " --objective 'max time'");
  CAPTURE(made.output);
  CHECK(made.code == 0);
  tune::tuning_database opened(database);
  CHECK_FALSE(opened.find(function(), record_of(key)));
  tune::function_identity of_goal = function();
  of_goal.name += "..max_time";
  const auto found = opened.find(of_goal, record_of(key));
  REQUIRE(found);
  CHECK(found->values == tune::to_values(isolated::sample_tuning{4}));
  // Without an option, for that of the environment.
  CHECK(pretune("--keys " + keys).code == 0);
  of_goal.name = function().name + "..min_time.time_le_1000000000";
  CHECK(opened.find(of_goal, record_of(key)));
  CHECK(contains(pretune("--keys " + keys + " --objective cheap").output, "max gflops"));
}

TEST_CASE_FIXTURE(bench, "keys that were missed are tuned") {
  if (!has_device()) return;
  const tune::missed_keys noted(tune::missed_keys::path_beside(database));
  const sample_key key{.configurations = 4};
  noted.remember(function(), record_of(key));
  tune::record_key elsewhere = record_of({.configurations = 5});
  elsewhere.device.name = "somewhere else";
  noted.remember(function(), elsewhere);
  const ended tuned = pretune("--missed");
  CAPTURE(tuned.output);
  CHECK(tuned.code == 0);
  CHECK(contains(tuned.output, "1 keys are for devices that are not here"));
  CHECK(contains(tuned.output, "[1/1]"));
  CHECK(tune::tuning_database(database).find(function(), record_of(key)));
}

/// The portfolio of isolated.ranged that a database has.
struct stored_ranged {
  explicit stored_ranged(const std::string& database) {
    tune::database_reader reader(database);
    for (const auto& summary : reader.functions()) {
      if (summary.function.name != "isolated.ranged") continue;
      function = summary.function;
      const tune::result_content result = reader.read(function).results.at(0);
      key = {result.arguments, result.device()};
      values = result.values;
    }
  }
  bool serves(std::uint64_t size) const {
    return tune::detail::unproven_sizes(values, {{.sizes = {size}, .count = 1}}).empty();
  }

  tune::function_identity function;
  tune::record_key key;
  std::vector<tune::named_value> values;
};

bool has_line(const std::string& path, const std::string& line) {
  const auto lines = isolated::read_log(path);
  return std::ranges::find(lines, line) != lines.end();
}

TEST_CASE_FIXTURE(bench,
                  "a portfolio is made anew for sizes outside of its ranges, and then left alone") {
  if (!has_device()) return;
  const std::string one = "--function isolated.ranged --arg rows=1..8 --arg log=" + log;
  const ended made = pretune(one);
  CAPTURE(made.output);
  REQUIRE(made.code == 0);
  const stored_ranged first(database);
  CHECK(first.serves(8));
  CHECK_FALSE(first.serves(5000));
  const tune::missed_keys noted(tune::missed_keys::path_beside(database));
  // At the largest nothing works.
  const std::vector<tune::asked_count> asked{{{3}, 90}, {{5000}, 7}, {{200'000}, 2}};
  noted.remember(first.function, first.key, asked);

  const ended anew = pretune("--missed");
  CAPTURE(anew.output);
  CHECK(anew.code == 0);
  CHECK(contains(anew.output, "tuned in "));
  CHECK(has_line(log, "5000"));
  CHECK(has_line(log, "200000"));
  const stored_ranged second(database);
  CHECK(second.serves(5000));
  // What cannot be measured is no reason to make it again and again.
  const std::size_t calls = isolated::read_log(log).size();
  const ended again = pretune("--missed");
  CHECK(again.code == 0);
  CHECK(contains(again.output, "no key of '" + database + "-missed' lacks a result"));
  CHECK(isolated::read_log(log).size() == calls);

  // For a database that is shipped, by what programs have noted beside their own.
  const std::string shipped = (folder / "shipped.db").string();
  const ended ship = pretune("--missed --database " + shipped);
  CAPTURE(ship.output);
  CHECK(ship.code == 0);
  CHECK(stored_ranged(shipped).serves(5000));
}

TEST_CASE_FIXTURE(bench, "sizes in a file of keys are not known here, which is told") {
  if (!has_device()) return;
  json asking = entry({.configurations = 4});
  asking["asked"] = json::array();
  write_keys({asking});
  CHECK_FALSE(contains(pretune("--keys " + keys).output, "LIBTUNE_MISSED"));
  asking["asked"] = {{{"sizes", {5000}}, {"count", 2}}};
  write_keys({asking});
  const ended told = pretune("--keys " + keys);
  CHECK(told.code == 0);
  CHECK(contains(told.output, "1 keys of '" + keys + "' have sizes"));
  CHECK(contains(told.output, "LIBTUNE_MISSED"));
}

TEST_CASE_FIXTURE(bench,
                  "a key that fails has an exit code and a reason, and the others are tuned") {
  if (!has_device()) return;
  write_keys({entry({.flaw = isolated::flaw::dies_outside}), entry({.configurations = 4})});
  const ended mixed = pretune("--keys " + keys);
  CAPTURE(mixed.output);
  CHECK(mixed.code == 6);
  CHECK(contains(mixed.output, "3 children in a row"));
  CHECK(contains(mixed.output, "tuned in "));
}

TEST_CASE_FIXTURE(bench, "an application without the door is told, and does not stay") {
  const ended shut = pretune("--list -- --shut");
  CHECK(shut.code == 1);
  CHECK(contains(shut.output, "does not tune: it ended before its handshake (exit status 0)"));
  CHECK(contains(shut.output, "the application runs"));
}

TEST_CASE_FIXTURE(bench,
                  "an interrupted run keeps what it measured, says so, and is gone on with") {
  if (!has_device()) return;
  const ended stopped = pretune_until(SIGTERM);
  CAPTURE(stopped.output);
  CHECK(stopped.code == 7);
  CHECK(contains(stopped.output, "stopped"));
  const auto kept = tune::tuning_database(database).trials(function(), record_of(slow_key()));
  CHECK(kept.size() >= 2);
}

TEST_CASE_FIXTURE(bench,
                  "a run that is killed leaves no process, and the next goes on where it was") {
  if (!has_device()) return;
  CHECK(pretune_until(SIGKILL).code == -1);
  CHECK(comes_true([] { return count_applications() == 0; }));
  const auto before = isolated::read_log(log).size();
  CHECK(before < 16);
  const ended second = pretune("--keys " + keys);
  CAPTURE(second.output);
  CHECK(second.code == 0);
  const auto runs = isolated::read_log(log);
  CHECK(std::set<std::string>(runs.begin(), runs.end()).size() == 16);
  CHECK_MESSAGE(runs.size() <= 18, "what was under way when it was killed is run again, no more");
}

}  // namespace pretune_test
