// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// tunedb recheck as an operator runs it, with an application of the tests.
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "libtune/tunedb/recheck_report.hpp"
#include "tests/tunedb/recheck_bench.hpp"

namespace recheck_test {

using namespace tune::testing;
using isolated::flaw;
using nlohmann::json;
using key_type = isolated::sample_key;

TEST_CASE_FIXTURE(recheck_bench, "results that hold end with 0, in a table and in files") {
  if (!has_recheck_device()) return;
  store({}, 1, {1, 2, 3});
  store({.configurations = 9}, 1, {1, 2});
  const std::string junit = (folder / "junit.xml").string();
  const std::string file = (folder / "recheck.json").string();
  const ended text = recheck("--junit " + junit + " --json-file " + file);
  CHECK(text.code == 0);
  CHECK(contains(text.output, "2 results are compared again"));
  CHECK(contains(text.output, "the best of 3"));
  CHECK(contains(text.output, "0 wrong, 0 lost, 0 unknown, 0 skipped, 2 hold"));
  CHECK(contains(read(junit), R"(<testsuite name="isolated.sample__0" tests="2" failures="0")"));
  const json written = json::parse(read(file));
  CHECK(written["holds"] == 2);
  CHECK(written["interrupted"] == false);
  CHECK(written["results"][0]["verdict"] == "holds");
  CHECK(written["results"][0]["score_ns"] == 1000);
}

TEST_CASE_FIXTURE(recheck_bench, "a lost result is named with its loss, and ends with 10") {
  if (!has_recheck_device()) return;
  store({}, 3, {3, 2, 1});
  const std::string junit = (folder / "junit.xml").string();
  const ended text = recheck("--junit " + junit);
  CHECK(text.code == 10);
  CHECK(contains(text.output, "lost 200.0 %"));
  CHECK(contains(text.output, "n=1 takes 1.00 us, this 3.00 us"));
  CHECK(contains(read(junit), "<failure type=\"lost\""));
  CHECK(recheck("--within 250").code == 0);
  CHECK(stored({}) == 3);
  CHECK(recheck("--repair").code == 10);
  CHECK(stored({}) == 1);
  CHECK(recheck().code == 0);
}

TEST_CASE_FIXTURE(recheck_bench, "a result that does not work comes first, and ends with 9") {
  if (!has_recheck_device()) return;
  const key_type crashing{.flaw = flaw::segfault, .bad = 2};
  store({}, 3, {3, 1});
  store(crashing, 2, {2, 4});
  store({.flaw = flaw::throws, .bad = 2}, 2, {2, 4});
  const ended run = recheck("--json");
  CHECK(run.code == 9);
  const json all = json::parse(run.output);
  CHECK(all["wrong"] == 2);
  CHECK(all["lost"] == 1);
  CHECK(all["results"][0]["verdict"] == "wrong");
  CHECK(all["results"][1]["verdict"] == "wrong");
  CHECK(all["results"][2]["verdict"] == "lost");
  bool has_crashed = false;
  for (const json& each : all["results"]) has_crashed = has_crashed || each["fault"] == "crashed";
  CHECK(has_crashed);
  CHECK(contains(recheck("--repair").output, "the better one is stored"));
  CHECK(stored(crashing) == 1);
}

TEST_CASE_FIXTURE(recheck_bench,
                  "a child that dies is the verdict of its key alone, and ends with 6") {
  if (!has_recheck_device()) return;
  store({.flaw = flaw::dies_outside}, 1, {1});
  store({}, 1, {1, 2});
  const ended run = recheck("--json");
  CHECK(run.code == 6);
  const json all = json::parse(run.output);
  CHECK(all["unknown"] == 1);
  CHECK(all["holds"] == 1);
}

TEST_CASE_FIXTURE(recheck_bench, "results without a use are skipped, and alone end with 3") {
  if (!has_recheck_device()) return;
  auto other = isolated::sample_function();
  other.name = "another.function";
  store({}, 1, {1}, other);
  auto newer = isolated::sample_function();
  newer.version = 7;
  store({}, 1, {1}, newer);
  store({.configurations = 4}, 8, {8, 2});
  const ended text = recheck();
  CHECK(text.code == 3);
  CHECK(contains(text.output, "the application does not have the function"));
  CHECK(contains(text.output, "stored by version 7; the application has version 0"));
  CHECK(contains(text.output, "not in the present space of 4 configurations"));
  store({}, 1, {1});
  CHECK(recheck().code == 0);
}

TEST_CASE_FIXTURE(recheck_bench,
                  "a goal decides by its metric, and the last search of a function counts") {
  if (!has_recheck_device()) return;
  auto with_goal = isolated::sample_function();
  with_goal.name = "isolated.goal..max_load";
  store({.configurations = 4}, 4, {4, 3}, with_goal);
  store({.configurations = 5}, 1, {1, 4}, with_goal);
  auto staged = isolated::sample_function();
  staged.name = "isolated.staged";
  store({.configurations = 6}, 1, {1, 2}, staged);
  const json all = document();
  REQUIRE(all["results"].size() == 3);
  CHECK(all["results"][0]["verdict"] == "lost");
  CHECK(all["results"][0]["best"]["n"] == 4);
  CHECK(all["results"][0]["loss"]["estimate"] == 3.0);
  CHECK(all["results"][0]["rivals"][0]["values"]["n"] == 4);
  CHECK(all["holds"] == 2);
  CHECK(document("--function isolated.goal")["results"].size() == 2);
}

TEST_CASE_FIXTURE(recheck_bench, "functions, keys and drivers choose the results") {
  if (!has_recheck_device()) return;
  store({.configurations = 4}, 1, {1, 2});
  store({.configurations = 5}, 1, {1, 2}, isolated::sample_function(), "0.1");
  CHECK(document()["results"].size() == 2);
  const json old = document("--driver 0.1");
  REQUIRE(old["results"].size() == 1);
  CHECK(old["results"][0]["stored_for"]["version"] == "0.1");
  CHECK(contains(recheck().output, "stored with driver 0.1"));
  CHECK(recheck("--driver 0.2").code == 3);
  CHECK(recheck("--function isolated.other").code == 3);
  CHECK(document("--function isolated.sample__0")["results"].size() == 2);
  const std::string keys = (folder / "keys.json").string();
  json fields{{"flaw", "none"}, {"bad", 0}, {"configurations", 4}, {"sleep_us", 0}, {"log", ""}};
  std::ofstream(keys) << json{{{"function", "isolated.sample"}, {"key", fields}}};
  CHECK(document("--keys " + keys)["results"].size() == 1);
  CHECK(document("--function isolated.sample --arg flaw=none --arg bad=0 --arg configurations=5 "
                 "--arg sleep_us=0 --arg log=")["results"]
            .size() == 1);
  CHECK(recheck("--repair").code == 0);
  CHECK(stored({.configurations = 5}) == 1);
}

TEST_CASE_FIXTURE(recheck_bench, "what makes no sense is refused before anything is compared") {
  CHECK(recheck("--within -1").code == 2);
  CHECK(recheck("--time 0").code == 2);
  CHECK(recheck("--arg n=1 --keys x").code == 2);
  const ended shut = recheck("-- --shut");
  CHECK(shut.code == 1);
  CHECK(contains(shut.output, "has to begin with serve_if_worker"));
  if (!has_recheck_device()) return;
  const ended none = recheck();
  CHECK(none.code == 3);
  CHECK(contains(none.output, "there is no database"));
  store({}, 1, {1});
  CHECK(recheck("--arg n=1").code == 2);
  CHECK(recheck("--device nonesuch").code == 3);
  CHECK(recheck("--junit " + (folder / "none" / "junit.xml").string()).code == 1);
  CHECK(recheck("--function isolated.sample --arg bad=0 --keys x").code == 2);
  const ended over = recheck("--junit " + path);
  CHECK(over.code == 1);
  CHECK(stored({}) == 1);
}

TEST_CASE_FIXTURE(recheck_bench,
                  "the program itself is the application of the built-in operations") {
  if (!has_recheck_device()) return;
  store({}, 1, {1});
  const ended alone = tunedb("recheck 2>&1");
  CHECK(alone.code == 3);
  CHECK(contains(alone.output, "the application does not have the function"));
}

TEST_CASE_FIXTURE(recheck_bench, "a signal ends it with the verdicts so far") {
  if (!has_recheck_device()) return;
  for (int count = 4; count < 12; ++count) {
    store({.configurations = count, .sleep_us = 100'000, .log = log}, 1, {1, 2});
  }
  const std::string number = (folder / "number").string();
  const std::jthread interrupter([&] {
    while (isolated::read_log(log).empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(std::stoi(isolated::read_log(number).at(0)), SIGINT);
  });
  const ended text = run("echo $$ > '" + number + "'; exec '" + LIBTUNE_TUNEDB +
                         "' recheck --app '" + LIBTUNE_APPLICATION + "' 2>&1");
  CHECK(text.code == 7);
  CHECK(contains(text.output, "a signal ended it before"));
}

TEST_CASE("the worst results are listed first, and progress names them at once") {
  tune::recheck_result held;
  held.verdict = tune::recheck_verdict::holds;
  held.winner.function.name = "f";
  tune::recheck_result lost = held;
  lost.verdict = tune::recheck_verdict::lost;
  lost.loss = tune::recheck_loss{.estimate = 0.05, .lower = 0.04, .upper = 0.06};
  lost.best = sample_values(2);
  tune::recheck_result worse = lost;
  worse.loss->estimate = 0.5;
  tune::recheck_result wrong = held;
  wrong.verdict = tune::recheck_verdict::wrong;
  wrong.reason = "wrong result";
  std::vector<tune::recheck_result> all{held, lost, worse, wrong};
  tune::cli::sort_worst_first(all);
  CHECK(all[0].verdict == tune::recheck_verdict::wrong);
  CHECK(all[1].loss == worse.loss);
  CHECK(all[3].verdict == tune::recheck_verdict::holds);
  CHECK(tune::cli::summary_of(all) == "1 wrong, 2 lost, 0 unknown, 0 skipped, 1 hold");
  CHECK(tune::cli::verdict_text(all[0]) == "wrong: wrong result; no other configuration works");
  CHECK(tune::cli::verdict_text(all[2]) == "lost 5.0 % (4.0 to 6.0 %): n=2 is better");
}

}  // namespace recheck_test
