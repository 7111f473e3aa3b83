// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/environment.hpp"
#include "libtune/base/library_version.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace show_commands_test {

using namespace tune::testing;
using nlohmann::json;

TEST_CASE_FIXTURE(filled_database, "list and show tell what is there") {
  const json list = tunedb_json("list");
  REQUIRE(list.size() == 2);
  CHECK(list[0]["function"] == function);
  CHECK(list[0]["trials"] == 3);
  CHECK(list[0]["devices"][0]["name"] == "GPU One");
  CHECK(list[1]["version"] == 3);
  CHECK(contains(tunedb("list").output, "other"));

  const json shown = tunedb_json("show " + function);
  REQUIRE(shown["results"].size() == 1);
  CHECK(shown["results"][0]["arguments"] == json{{"rows", 64}, {"type", "float32"}});
  CHECK(shown["results"][0]["values"]["wgs"] == 64);
  CHECK(shown["results"][0]["score_ns"] == 1500);
  CHECK(contains(tunedb("show " + function).output, "1.50 us"));
  CHECK(tunedb_json("show other__3")["results"][0]["score_ns"].is_null());
  CHECK(tunedb_json("show other --device Nothing")["results"].empty());
  CHECK(tunedb_json("show") == list);
}

TEST_CASE_FIXTURE(filled_database,
                  "trials are shown with the fastest first and the reasons of the others") {
  const std::string text = tunedb("trials " + function).output;
  CHECK(text.find("1.50 us") < text.find("1.80 us"));
  CHECK(contains(text, "over a device limit: too many work items"));
  const json trials = tunedb_json("trials " + function + " --arg rows=64 --arg type=float32");
  CHECK(trials["searches"][0]["trials"].size() == 3);
  CHECK(trials["searches"][0]["trials"][0]["samples_ns"] == json{1500, 1501.5});
  CHECK(trials["searches"][0]["trials"][0]["score_lower_ns"] == 1490);
  CHECK(trials["searches"][0]["trials"][0]["score_upper_ns"] == 1510);
  CHECK(trials["searches"][0]["trials"][1]["score_upper_ns"].is_null());
  CHECK(contains(text, "1.49 us"));
}

TEST_CASE_FIXTURE(filled_database, "texts of a database leave the terminal as it is") {
  const std::string odd =
      "\x1b[2J\x07 \xc2\x9b"
      "1m\n";
  {
    tune::tuning_database database(path);
    tune::record_key key = sample_key(96);
    key.device.name += odd;
    key.device.platform += odd;
    const auto search = database.begin_search(sample_function(), key, {}, "random" + odd);
    database.add_trial(search, {.configuration = sample_tuning(8),
                                .outcome = "failed" + odd,
                                .message = odd + "why",
                                .metrics = {{"gflops", 1, "GFLOP/s" + odd}}});
    database.finish_search(search, "found");
    database.store(sample_function(), key, sample_tuning(64), 1500);
    key.arguments[1].value = "float32" + odd;
    database.store(sample_function("texts", 0), key, sample_tuning(64), 1500);
  }
  const std::vector<std::string> commands{
      "list",
      "show " + function,
      "show texts",
      "trials " + function,
      "coverage " + function,
      "explain " + function + " --arg rows=96 --arg type=float32",
      "denylist",
      "missed",
      "watch --once",
      "check",
      "diff '" + path + "' '" + path + "'",

      "list --json",
      "trials " + function + " --json"};
  for (const std::string& command : commands) {
    const std::string output = tunedb(command + " 2>&1").output;
    CAPTURE(command);
    const auto is_control = [](unsigned char c) { return (c < ' ' && c != '\n') || c == 0x7f; };
    CHECK(std::ranges::none_of(output, is_control));
    CHECK_FALSE(contains(output, "\xc2\x9b"));
  }
}

TEST_CASE_FIXTURE(filled_database, "goals, their metrics and the Pareto front are shown") {
  const std::string name = "other..min_time.max_gflops";
  {
    tune::tuning_database database(path);
    const tune::search_id search = database.begin_search(sample_function(name), sample_key());
    const auto add = [&](std::int64_t wgs, double ns, double gflops) {
      database.add_trial(search, {.configuration = sample_tuning(wgs),
                                  .outcome = "measured",
                                  .samples_ns = {ns},
                                  .score_ns = ns,
                                  .metrics = {{"gflops", gflops, "GFLOP/s"}}});
    };
    add(16, 1000, 5);
    add(32, 1500, 4);
    add(64, 2000, 9);
    database.finish_search(search, "found");
    database.store(sample_function(name), sample_key(), sample_tuning(16), 1000);
  }
  const json list = tunedb_json("list");
  CHECK(list[0]["goal"] == "min time");
  CHECK(list.back()["function"] == name);
  CHECK(list.back()["goal"] == "min time, max gflops");
  CHECK(tunedb_json("show " + name)["goal"] == "min time, max gflops");
  const json search = tunedb_json("trials " + name)["searches"][0];
  REQUIRE(search["front"].size() == 2);
  CHECK(search["front"][0]["wgs"] == 16);
  CHECK(search["front"][1]["wgs"] == 64);
  CHECK(search["trials"][0]["metrics"]["gflops"] == json{{"value", 5.0}, {"unit", "GFLOP/s"}});
  CHECK(contains(tunedb("trials " + name).output, "gflops=5 GFLOP/s"));
  CHECK(contains(tunedb("trials " + name).output, "goal: min time, max gflops"));

  const std::string ask =
      " --arg rows=64 --arg type=float32 --device 'GPU One' --platform "
      "'Some Platform' --driver 535.104";
  CHECK(tunedb_json("explain " + name + ask)["goal"] == "min time, max gflops");
  CHECK(tunedb_json("explain " + name + ask)["values"]["wgs"] == 16);
  // With a goal in the environment a program would look for its result, and finds none.
  const scoped_environment goal{"LIBTUNE_OBJECTIVE", "max gflops"};
  const ended other = tunedb("explain " + function + ask + " 2>&1");
  CHECK(other.code != 0);
  CHECK(contains(other.output, function + "..max_gflops"));
}

TEST_CASE_FIXTURE(filled_database,
                  "explain says what would be used, why, how sure and what differs") {
  const std::string ask = "explain " + function + " --arg rows=64 --arg type=float32 ";
  const json exact =
      tunedb_json(ask + "--device 'GPU One' --platform 'Some Platform' --driver 535.104");
  CHECK(exact["match"] == "exact");
  CHECK(exact["values"]["wgs"] == 64);
  CHECK(exact["sure"] == "clear");
  CHECK(exact["relaxed"].empty());
  CHECK(exact["origin"]["programs"] == json{"0123abcd"});
  const json nearest =
      tunedb_json(ask + "--device 'GPU One' --platform 'Some Platform' --driver 999.0");
  CHECK(nearest["match"] == "nearest");
  CHECK(nearest["step"] == "other software");
  CHECK(nearest["relaxed"][0] == "device_version");
  CHECK(contains(tunedb(ask + "--device 'GPU Two'").output, "nearest"));
}

TEST_CASE_FIXTURE(filled_database, "explain and path look in the layers that a program looks in") {
  const std::string system = folder.file("system.db");
  const std::string missing = folder.file("missing.db");
  tune::tuning_database(system).store(sample_function(), sample_key(65), sample_tuning(16), 1600);
  const scoped_environment systems{"LIBTUNE_SYSTEM_DB", (missing + ":" + system).c_str()};
  const scoped_environment match{"LIBTUNE_MATCH", "verify"};
  const std::string ask = "explain " + function + " --arg rows=65 --arg type=float32 ";
  const std::string device = "--device 'GPU One' --platform 'Some Platform' ";

  const json exact = tunedb_json(ask + device + "--driver 535.104");
  CHECK(exact["action"] == "use");
  CHECK(exact["database"] == system);
  CHECK(exact["layer"] == "system 2");
  CHECK(exact["layers"].size() == 3);
  CHECK(exact["layers"][1]["used"] == false);

  const json other = tunedb_json(ask + device + "--driver 9");
  CHECK(other["action"] == "verify");
  CHECK(other["verified"] == true);
  CHECK(other["match"] == "nearest");
  CHECK(other["candidates"].size() == 1);
  const std::string text = tunedb(ask + device + "--driver 9").output;
  CHECK(contains(text, "LIBTUNE_MATCH=verify"));
  CHECK(contains(text, "measured on the device"));
  CHECK(contains(text, missing + ", system 1: passed over"));

  const json paths = tunedb_json("path");
  CHECK(paths["layers"][2]["path"] == system);
  CHECK(paths["layers"][2]["used"] == true);
  CHECK(tunedb("path").output == path + "\n");
  CHECK(contains(tunedb("path --all").output, system));
}

TEST_CASE_FIXTURE(filled_database, "what explain says of a miss depends on the mode") {
  const std::string ask = "explain " + function +
                          " --arg rows=64 --arg type=float32 --device 'GPU One' --platform "
                          "'Some Platform' --driver 9";
  CHECK(tunedb_json(ask)["action"] == "tune");
  CHECK_FALSE(tunedb_json(ask)["lost"].is_null());
  {
    const scoped_environment cached{"LIBTUNE_MODE", "cached"};
    CHECK(tunedb_json(ask)["action"] == "fail");
    CHECK(contains(tunedb(ask).output, "not_tuned_error"));
  }
  const scoped_environment match{"LIBTUNE_MATCH", "nearest"};
  CHECK(tunedb_json(ask)["action"] == "check first");
  CHECK(tunedb_json(ask)["lost"].is_null());
}

TEST_CASE_FIXTURE(filled_database,
                  "coverage shows each value of a stored search, and what it costs") {
  const json got = tunedb_json("coverage " + function);
  CHECK(got["tried"] == 3);
  CHECK(got["measured"] == 2);
  CHECK(got["result"] == "found");
  const json* wgs = nullptr;
  for (const json& item : got["parameters"]) {
    if (item["name"] == "wgs") wgs = &item;
  }
  REQUIRE(wgs != nullptr);
  REQUIRE((*wgs)["values"].size() == 3);
  CHECK((*wgs)["values"][0]["ratio"] == 1);
  CHECK((*wgs)["values"][1]["ratio"].get<double>() > 1);
  CHECK((*wgs)["values"][2]["ratio"].is_null());
  CHECK(contains(tunedb("coverage " + function).output, "1 (over a device limit) = 2 measured"));
  CHECK(contains(tunedb("coverage --csv " + function).output, ",4096,1,0,,ns,,,\r\n"));
  CHECK(tunedb("coverage other 2>&1").code == 3);
}

TEST_CASE_FIXTURE(filled_database,
                  "coverage shows the candidates that a stored search never tried") {
  {
    tune::tuning_database database(path);
    const auto search = database.begin_search(sample_function(), sample_key());
    database.add_trial(
        search, {.configuration = sample_tuning(64), .outcome = "measured", .score_ns = 1500});
    const std::vector<tune::value> candidates{std::int64_t{32}, std::int64_t{64}, std::int64_t{96}};
    database.finish_search(search, "found",
                           {.space = tune::stored_space{.combinations = 4,
                                                        .configurations = 3,
                                                        .removals = {{"even", 1}},
                                                        .parameters = {{"wgs", candidates}}}});
  }
  const json values = tunedb_json("coverage " + function)["parameters"][0]["values"];
  REQUIRE(values.size() == 3);
  CHECK(values[0]["value"] == 32);
  CHECK(values[0]["tried"] == 0);
  CHECK(values[1]["tried"] == 1);
  const std::string text = tunedb("coverage " + function).output;
  CHECK(contains(text, "1 (even)"));
  CHECK(contains(text, "2 (not tried)"));
}

TEST_CASE_FIXTURE(filled_database, "a field without --arg is explained") {
  const ended run = tunedb("explain " + function + " rows=64 2>&1");
  CHECK(run.code == 2);
  CHECK(contains(run.output, "--arg rows=64"));
}

TEST_CASE_FIXTURE(filled_database, "path and env tell what counts here and now") {
  CHECK(tunedb("path").output == path + "\n");
  CHECK(tunedb_json("path")["named_by"] == "LIBTUNE_DB");
  CHECK(tunedb("--db x.db path").output == "x.db\n");
  const json table = tunedb_json("env");
  CHECK(table.size() == tune::environment_variables().size());
  for (const json& variable : table) {
    if (variable["name"] == "LIBTUNE_DB") CHECK(variable["value"] == path);
  }
}

TEST_CASE("the version is told without a subcommand, and needs no database") {
  const ended told = tunedb("--version");
  CHECK(told.code == 0);
  CHECK(told.output == "tunedb " + std::string(tune::library_version()) + "\n");
}

TEST_CASE("exit codes tell what went wrong, and standard error says why") {
  const filled_database here;
  const auto check_end = [](const std::string& arguments, int code, const std::string& reason) {
    const ended run = tunedb(arguments + " 2>&1");
    CAPTURE(arguments);
    CAPTURE(run.output);
    CHECK(run.code == code);
    CHECK(contains(run.output, reason));
  };
  check_end("", 2, "subcommand");
  check_end("nonsense", 2, "");
  check_end("trials", 2, "FUNCTION");
  check_end("export --format yaml", 2, "yaml");
  check_end("prune", 2, "--older-than");
  check_end("explain " + function + " --device X", 2, "rows (int32)");
  check_end("explain " + function + " --arg rows=x --arg type=a --device X", 2, "another type");
  check_end("show nothing", 3, "no function 'nothing'");
  check_end("trials other", 3, "no such search");
  check_end("--db " + here.folder.file("none.db") + " export", 3, "no database");
  check_end("explain " + function + " --arg rows=1 --arg type=float32 --device X", 3, "tuned");
  check_end("import " + here.folder.file("none.json"), 1, "could not be read");
  check_end("import --format json " + here.path, 1, "not JSON");
  check_end("import " + here.path, 0, "is a database of libtune");
  check_end("export " + here.folder.file("no/folder/file"), 1, "could not be written");
}

}  // namespace show_commands_test
