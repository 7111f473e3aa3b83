// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The program as a user meets it: arguments in, text and an exit code out.
#include <SQLiteCpp/SQLiteCpp.h>
#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>

#include "libtune/base/environment.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tunedb_test {

using nlohmann::json;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::scoped_environment;
using tune::testing::temporary_folder;

const std::string function = "multiply_template.autotune";

struct ended {
  int code = -1;
  std::string output{};
};

/// Runs tunedb; what it writes to standard error is a part of the output only with 2>&1.
ended tunedb(const std::string& arguments) {
  const std::string line = std::string("'") + LIBTUNE_TUNEDB + "' " + arguments;
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + line);
  ended result;
  char part[4096];
  for (std::size_t count = 0; (count = std::fread(part, 1, sizeof part, pipe)) > 0;) {
    result.output.append(part, count);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

json tunedb_json(const std::string& arguments) {
  const ended run = tunedb(arguments + " --json");
  CAPTURE(arguments);
  CHECK(run.code == 0);
  return json::parse(run.output);
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder with a filled database, which is the one that LIBTUNE_DB names.
struct bench {
  bench() {
    tune::tuning_database database(path);
    const auto search = database.begin_search(sample_function(), sample_key());
    database.add_trial(search, {.configuration = sample_tuning(64),
                                .outcome = "measured",
                                .samples_ns = {1500, 1501.5},
                                .score_ns = 1500,
                                .programs = {"0123abcd"},
                                .score_lower_ns = 1490,
                                .score_upper_ns = 1510});
    database.add_trial(search, {.configuration = sample_tuning(128),
                                .outcome = "measured",
                                .samples_ns = {1800},
                                .score_ns = 1800});
    database.add_trial(search, {.configuration = sample_tuning(4096),
                                .outcome = "over a device limit",
                                .message = "too many work items"});
    database.finish_search(search, "found");
    database.store(sample_function(), sample_key(), sample_tuning(64), 1500);
    database.store(sample_function("other", 3), sample_key(32), sample_tuning(32), std::nullopt);
  }

  temporary_folder folder;
  std::string path = folder.file("tuning.db");
  scoped_environment variable{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment mode{"LIBTUNE_MODE", nullptr};
};

TEST_CASE("list and show tell what is there") {
  const bench here;
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
}

TEST_CASE("trials are shown with the fastest first and the reasons of the others") {
  const bench here;
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

TEST_CASE("explain says what would be used, why, how sure and what differs") {
  const bench here;
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

TEST_CASE("explain and path look in the layers that a program looks in") {
  const bench here;
  const std::string system = here.folder.file("system.db");
  const std::string missing = here.folder.file("missing.db");
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
  CHECK(tunedb("path").output == here.path + "\n");
  CHECK(contains(tunedb("path --all").output, system));
}

TEST_CASE("what explain says of a miss depends on the mode") {
  const bench here;
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

TEST_CASE("an export imported elsewhere exports the same bytes") {
  const bench here;
  const std::string first = tunedb("export").output;
  CHECK(json::parse(first)["functions"].size() == 2);
  CHECK(tunedb("export " + here.folder.file("a.json")).code == 0);
  CHECK(read(here.folder.file("a.json")) == first);
  struct stat status {};
  REQUIRE(::stat(here.folder.file("a.json").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600);

  const std::string elsewhere = "--db " + here.folder.file("b.db") + " ";
  CHECK(tunedb_json(elsewhere + "import " + here.folder.file("a.json"))["results_added"] == 2);
  CHECK(tunedb(elsewhere + "export").output == first);
}

TEST_CASE("a search exported as T4 and imported elsewhere exports the same bytes") {
  const bench here;
  const std::string t4 = "export --format t4 --function " + function + " ";
  CHECK(tunedb(t4 + here.folder.file("a.json")).code == 0);
  const json document = json::parse(read(here.folder.file("a.json")));
  CHECK(document["results"][0]["times"]["runtimes"][0] == 0.0015);
  CHECK(document["results"][2]["invalidity"] == "constraints");
  const std::string elsewhere = "--db " + here.folder.file("b.db") + " ";
  CHECK(tunedb(elsewhere + "import --format t4 " + here.folder.file("a.json")).code == 0);
  CHECK(tunedb(elsewhere + t4).output == read(here.folder.file("a.json")));
  json trials = tunedb_json("trials " + function);
  for (json& trial : trials["searches"][0]["trials"]) {
    trial["score_lower_ns"] = trial["score_upper_ns"] = nullptr;  // T4 has no intervals
  }
  CHECK(tunedb_json(elsewhere + "trials " + function) == trials);
}

TEST_CASE("merge brings another database in, and a second time nothing") {
  const bench here;
  const std::string elsewhere = "--db " + here.folder.file("b.db") + " ";
  CHECK(tunedb_json(elsewhere + "merge " + here.path)["results_added"] == 2);
  const json again = tunedb_json(elsewhere + "merge " + here.path + " " + here.path);
  CHECK(again["results_added"] == 0);
  CHECK(again["results_kept"] == 4);
  CHECK(again["searches_known"] == 2);
}

TEST_CASE("merge and import tell what they could not take, and return 5") {
  const bench here;
  const std::string db = "--db " + here.folder.file("b.db") + " ";
  json document = json::parse(tunedb("export").output);
  document["functions"][0]["results"][0]["columns"]["device_clock_mhz"] = "fast";
  std::ofstream(here.folder.file("a.json")) << document.dump();
  const ended import = tunedb(db + "import --json " + here.folder.file("a.json"));
  CHECK(import.code == 5);
  const json report = json::parse(import.output);
  CHECK(report["left"] == 1);
  CHECK(report["results_added"] == 1);
  CHECK(contains(report["reasons"][0], "device_clock_mhz"));

  SQLite::Database(here.path, SQLite::OPEN_READWRITE)
      .exec("UPDATE \"other__3\" SET \"value_wgs\" = 77");
  const ended merge = tunedb(db + "merge " + here.path);
  CHECK(merge.code == 5);
  CHECK(contains(merge.output, "1 rows of"));
}

TEST_CASE("a backup is a database of its own with all that this one has") {
  const bench here;
  const std::string copy = here.folder.file("copy.db");
  CHECK(tunedb("export --format sqlite " + copy).code == 0);
  CHECK(tunedb("--db " + copy + " export").output == tunedb("export").output);
  CHECK(tunedb("export --format sqlite " + here.path + " 2>/dev/null").code == 1);
  CHECK(tunedb("check").code == 0);
}

TEST_CASE("no export is written over the database, or what belongs to it, under whatever name") {
  const bench here;
  const std::string json_before = tunedb("export").output;
  const std::string before = read(here.path);
  std::filesystem::create_symlink(here.path, here.folder.file("link"));
  std::filesystem::create_symlink(here.folder.path(), here.folder.file("folder"));
  std::filesystem::create_directory(here.path + ".locks");
  std::ofstream(here.path + "-lock").flush();
  const std::string name = std::filesystem::path(here.path).filename();
  for (const std::string& file :
       {here.path, here.folder.file("link"), here.folder.file("folder/" + name),
        here.folder.file("folder/./" + name), here.path + "-journal", here.path + "-wal",
        here.path + "-shm", here.path + "-lock", here.path + "-missed", here.path + ".locks",
        here.path + ".locks/00"}) {
    for (const std::string& format :
         {std::string("json"), std::string("json --function ") + function,
          std::string("t4 --function ") + function, std::string("sqlite")}) {
      for (const char* force : {"", " --force"}) {
        CAPTURE(file);
        CAPTURE(format);
        const ended run = tunedb("export " + file + " --format " + format + force + " 2>&1");
        CHECK(run.code == 1);
        CHECK(contains(run.output, "belongs to it"));
      }
    }
  }
  CHECK(tunedb("export >> " + here.path + " 2>/dev/null").code == 1);
  CHECK(tunedb("export /dev/stdout >> " + here.path + " 2>/dev/null").code == 1);
  CHECK(read(here.path) == before);
  CHECK_FALSE(std::filesystem::exists(here.path + "-journal"));
  CHECK(std::filesystem::is_empty(here.path + "-lock"));
  CHECK(tunedb("export").output == json_before);
  // Another name of the same file, which the database itself does not allow.
  std::filesystem::create_hard_link(here.path, here.folder.file("name"));
  CHECK(tunedb("export " + here.folder.file("name") + " 2>/dev/null").code == 1);
  CHECK(read(here.path) == before);
}

TEST_CASE("a file that is no export is replaced only with --force, and an export without") {
  const bench here;
  const std::string other = here.folder.file("other.db");
  tune::tuning_database(other).store(sample_function(), sample_key(), sample_tuning(1), 1);
  const std::string notes = here.folder.file("notes.txt");
  std::ofstream(notes) << "not to be lost";
  for (const std::string& file : {other, notes}) {
    const std::string before = read(file);
    CHECK(contains(tunedb("export " + file + " 2>&1").output, "--force"));
    CHECK(contains(tunedb("export --format sqlite " + file + " 2>&1").output, "--force"));
    CHECK(read(file) == before);
  }
  CHECK(tunedb("export --force " + notes).code == 0);
  CHECK(tunedb("export " + notes).code == 0);
  CHECK(tunedb("export --format t4 --function " + function + " " + notes).code == 0);
  CHECK(tunedb("export --format t4 --function " + function + " " + notes).code == 0);
  CHECK(tunedb("export --format sqlite --force " + notes).code == 0);
  CHECK(tunedb("--db " + notes + " export").output == tunedb("export").output);
  // With a journal it would be taken for the file that the journal is of.
  std::ofstream(other + "-journal") << "half a transaction";
  CHECK(tunedb("export --format sqlite --force " + other + " 2>/dev/null").code == 1);
}

TEST_CASE("an export goes through links to files and into devices, and takes the place of none") {
  const bench here;
  const std::string text = tunedb("export").output;
  const std::string target = here.folder.file("target");
  const std::string link = here.folder.file("link");
  std::ofstream(target).flush();
  std::filesystem::create_symlink(target, link);
  CHECK(tunedb("export " + link).code == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(read(target) == text);
  CHECK(tunedb("export /dev/stdout").output == text);
  const std::string out = here.folder.file("out");
  CHECK(tunedb("export /dev/stdout > " + out).code == 0);
  CHECK(read(out) == text);
  CHECK(tunedb("export /dev/null").code == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::remove(target);
  CHECK(tunedb("export " + link + " 2>/dev/null").code == 1);
  CHECK(tunedb("export " + here.folder.path().string() + " 2>/dev/null").code == 1);
}

TEST_CASE("what is only read is not changed, were it the database itself") {
  const bench here;
  const std::string before = tunedb("export").output;
  CHECK(tunedb("import " + here.path + " 2>/dev/null").code == 1);
  CHECK(tunedb("import --format t4 " + here.path + " 2>/dev/null").code == 1);
  CHECK(tunedb("merge " + here.path).code == 0);
  CHECK(tunedb("import-katsdpsigproc " + here.path + " >/dev/null 2>&1").code != 0);
  CHECK(tunedb("export").output == before);
}

TEST_CASE(
    "denylist lists configurations with their incidents, and clears those that are asked for") {
  const bench here;
  const auto crash = [&](const tune::record_key& key, std::int64_t wgs) {
    tune::tuning_database database(here.path);
    const auto search = database.begin_search(sample_function(), key);
    database.add_trial(search, {.configuration = sample_tuning(wgs),
                                .outcome = "crashed",
                                .message = "its process ended"});
  };
  CHECK(tunedb_json("denylist")["entries"].empty());
  crash(sample_key(), 256);
  crash(sample_key(), 256);
  crash(sample_key(65), 256);
  const json listed = tunedb_json("denylist")["entries"];
  REQUIRE(listed.size() == 2);
  CHECK(listed[0]["function"] == function);
  CHECK(listed[0]["configuration"]["wgs"] == 256);
  CHECK(listed[0]["incidents"] == 2);
  CHECK(listed[0]["denied"] == true);
  CHECK(listed[0]["outcome"] == "crashed");
  CHECK(listed[0]["reason"] == "its process ended");
  CHECK_FALSE(listed[0]["first_at"].get<std::string>().empty());
  CHECK(listed[1]["denied"] == false);
  CHECK(contains(tunedb("denylist").output, "crashed: its process ended"));
  const std::string key = "--function " + function + " --arg rows=65 --arg type=float32";
  CHECK(tunedb_json("denylist " + key)["entries"].size() == 1);
  CHECK(tunedb_json("denylist --device Other")["entries"].empty());

  CHECK(tunedb_json("denylist --clear " + key)["cleared"] == 1);
  CHECK(tunedb_json("denylist")["entries"].size() == 1);
  CHECK(tunedb_json("denylist --clear --function other")["cleared"] == 0);
  CHECK(contains(tunedb("denylist --clear").output, "cleared 2 incidents"));
  CHECK(tunedb_json("denylist")["entries"].empty());
  CHECK(tunedb("denylist --arg rows=65 2>&1").code == 2);
}

TEST_CASE("prune removes what is asked for, and with --dry-run only counts it") {
  const bench here;
  CHECK(tunedb_json("prune --function other --dry-run")["functions"] == 1);
  CHECK(tunedb_json("list").size() == 2);
  CHECK(tunedb_json("prune --older-than 1")["results"] == 0);
  CHECK(tunedb_json("prune --function other")["results"] == 1);
  CHECK(tunedb_json("list").size() == 1);
  CHECK(tunedb_json("prune --device 'GPU One' --yes")["searches"] == 1);
  CHECK(tunedb_json("list")[0]["results"] == 0);
}

TEST_CASE("prune takes dates for dates, and nothing else") {
  const bench here;
  for (const char* text : {"yesterday", "31.12.2019", "2026/01/01", "'Jan 2020'", "2024-02-30",
                           "2024-13-01", "24-01-01", "2024-01-01x", "2024-01-01T25:00", "30d"}) {
    CAPTURE(text);
    const ended run = tunedb(std::string("prune --yes --before ") + text + " 2>&1");
    CHECK(run.code == 2);
    CHECK(contains(run.output, "is no date"));
  }
  for (const char* text : {"x", "1w", "-1", "1.5", "99999999999"}) {
    CAPTURE(text);
    CHECK(tunedb(std::string("prune --yes --older-than=") + text + " 2>/dev/null").code == 2);
  }
  CHECK(tunedb_json("list")[0]["results"] == 1);
  for (const char* old : {"--before 2020-01-31", "--before '2020-01-31 12:00'", "--older-than 12h",
                          "--before 2020-01-31T12:00:00Z", "--older-than 4000000000"}) {
    CAPTURE(old);
    CHECK(tunedb_json(std::string("prune --yes ") + old)["results"] == 0);
  }
  CHECK(tunedb_json("prune --yes --before 2999-01-01")["results"] == 2);
}

TEST_CASE("prune that removes more than it keeps shows it and wants --yes") {
  const bench here;
  const std::string before = tunedb("export").output;
  const ended shown = tunedb("prune --before 2999-01-01 2>&1 </dev/null");
  CHECK(shown.code == 1);
  CHECK(contains(shown.output, "--yes"));
  CHECK(contains(shown.output, function));
  CHECK(contains(shown.output, "1 of 1"));
  CHECK(tunedb("prune --before 2999-01-01 --json 2>/dev/null").code == 1);
  CHECK(tunedb("export").output == before);
  CHECK(tunedb("prune --before 2999-01-01 --yes").code == 0);
}

TEST_CASE("a field without --arg is explained") {
  const bench here;
  const ended run = tunedb("explain " + function + " rows=64 2>&1");
  CHECK(run.code == 2);
  CHECK(contains(run.output, "--arg rows=64"));
}

TEST_CASE("check finds a damaged row and files that others may write, and returns 4") {
  const bench here;
  CHECK(tunedb_json("check")["good"] == true);
  CHECK(contains(tunedb("check").output, "of 2 results 1 say"));
  ::chmod(here.path.c_str(), 0666);
  CHECK(tunedb("check").code == 4);
  ::chmod(here.path.c_str(), 0600);
  SQLite::Database(here.path, SQLite::OPEN_READWRITE)
      .exec("UPDATE \"other__3\" SET \"value_wgs\" = 77");
  const ended run = tunedb("check --json");
  CHECK(run.code == 4);
  CHECK(json::parse(run.output)["good"] == false);
}

TEST_CASE("path and env tell what counts here and now") {
  const bench here;
  CHECK(tunedb("path").output == here.path + "\n");
  CHECK(tunedb_json("path")["named_by"] == "LIBTUNE_DB");
  CHECK(tunedb("--db x.db path").output == "x.db\n");
  const json table = tunedb_json("env");
  CHECK(table.size() == tune::environment_variables().size());
  for (const json& variable : table) {
    if (variable["name"] == "LIBTUNE_DB") CHECK(variable["value"] == here.path);
  }
}

TEST_CASE("exit codes tell what went wrong, and standard error says why") {
  const bench here;
  const auto check_end = [](const std::string& arguments, int code, const std::string& reason) {
    const ended run = tunedb(arguments + " 2>&1");
    CAPTURE(arguments);
    CAPTURE(run.output);
    CHECK(run.code == code);
    CHECK(contains(run.output, reason));
  };
  check_end("", 2, "subcommand");
  check_end("nonsense", 2, "");
  check_end("show", 2, "FUNCTION");
  check_end("export --format yaml", 2, "yaml");
  check_end("prune", 2, "--older-than");
  check_end("explain " + function + " --device X", 2, "rows (int32)");
  check_end("explain " + function + " --arg rows=x --arg type=a --device X", 2, "another type");
  check_end("show nothing", 3, "no function 'nothing'");
  check_end("trials other", 3, "no such search");
  check_end("--db " + here.folder.file("none.db") + " export", 3, "no database");
  check_end("explain " + function + " --arg rows=1 --arg type=float32 --device X", 3, "tuned");
  check_end("import " + here.folder.file("none.json"), 1, "could not be read");
  check_end("import " + here.path, 1, "not JSON");
  check_end("export " + here.folder.file("no/folder/file"), 1, "could not be written");
}

TEST_CASE("a database of another application is refused and left as it is") {
  const temporary_folder folder;
  const std::string path = folder.file("places.sqlite");
  SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA application_id = 42; CREATE TABLE bookmarks (url TEXT)");
  const std::string before = read(path);
  const bench here;
  for (const char* command : {"list", "prune --orphans", "export"}) {
    CAPTURE(command);
    CHECK(tunedb("--db " + path + " " + command + " 2>/dev/null").code == 1);
  }
  CHECK(tunedb("--db " + path + " merge " + here.path + " 2>/dev/null").code == 1);
  CHECK(tunedb("--db " + path + " check").code == 4);
  CHECK(read(path) == before);
}

TEST_CASE("a database of katsdpsigproc is taken, and what is not taken is told") {
  const temporary_folder folder;
  const std::string from = folder.file("katsdpsigproc.db");
  {
    SQLite::Database made(from, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    made.exec(
        "CREATE TABLE app_Fill_autotune__0 (arg_dtype NOT NULL, device_name NOT NULL, "
        "device_platform NOT NULL, device_version NOT NULL, value_wgs NOT NULL, PRIMARY KEY "
        "(arg_dtype, device_name, device_platform, device_version) ON CONFLICT REPLACE);"
        "INSERT INTO app_Fill_autotune__0 VALUES ('dtype(''float32'')', 'GPU', 'CUDA', "
        "'CUDA:11040', 128);"
        "CREATE TABLE notes (text)");
  }
  const std::string db = "--db " + folder.file("tuning.db") + " ";
  const ended run = tunedb(db + "import-katsdpsigproc " + from + " --json");
  CHECK(run.code == 5);
  const json report = json::parse(run.output);
  CHECK(report["tables"][0]["taken"] == 1);
  CHECK(report["tables"][1]["table"] == "notes");
  CHECK(report["tables"][1]["left"].size() == 1);
  CHECK(tunedb_json(db + "show app_Fill_autotune")["results"][0]["values"]["wgs"] == 128);
}

TEST_CASE("missed lists keys without a result, leaves out those that have one, and forgets them") {
  const bench here;
  const scoped_environment file("LIBTUNE_MISSED", nullptr);
  CHECK(tunedb_json("missed")["keys"].empty());
  const tune::missed_keys missed(here.path + "-missed");
  missed.remember(sample_function(), sample_key());  // of which there is a result
  missed.remember(sample_function(), sample_key(7));
  missed.remember(sample_function("other", 3), sample_key(8));
  const json all = tunedb_json("missed");
  CHECK(all["path"] == here.path + "-missed");
  REQUIRE(all["keys"].size() == 2);
  CHECK(all["keys"][0]["function"] == function);
  CHECK(all["keys"][0]["arguments"]["rows"] == 7);
  CHECK(all["keys"][0]["device"]["name"] == "GPU One");
  CHECK(all["keys"][0]["program"] != "");
  const std::string text = tunedb("missed --function other__3").output;
  CHECK(contains(text, "other__3"));
  CHECK(contains(text, "rows=8"));
  CHECK_FALSE(contains(text, "rows=7"));
  CHECK(tunedb_json("missed --clear --function other")["removed"] == 1);
  CHECK(tunedb_json("missed")["keys"].size() == 1);
  CHECK(contains(tunedb("missed --clear").output, "removed 2 keys"));
  CHECK_FALSE(std::filesystem::exists(here.path + "-missed"));
  const scoped_environment off("LIBTUNE_MISSED", "off");
  CHECK(tunedb("missed").code == 3);
}

}  // namespace tunedb_test
