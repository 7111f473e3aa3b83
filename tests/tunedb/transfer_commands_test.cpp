// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>

#include "tests/testing/parsed_json.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace transfer_commands_test {

using namespace tune::testing;
using nlohmann::json;

TEST_CASE_FIXTURE(filled_database, "an export imported elsewhere exports the same bytes") {
  const std::string first = tunedb("export").output;
  CHECK(tune::testing::parsed_json(first)["functions"].size() == 2);
  CHECK(tunedb("export " + folder.file("a.json")).code == 0);
  CHECK(read(folder.file("a.json")) == first);
  struct stat status {};
  REQUIRE(::stat(folder.file("a.json").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600);

  const std::string elsewhere = "--db " + folder.file("b.db") + " ";
  CHECK(tunedb_json(elsewhere + "import " + folder.file("a.json"))["results_added"] == 2);
  CHECK(tunedb(elsewhere + "export").output == first);
}

TEST_CASE_FIXTURE(filled_database,
                  "a search exported as T4 and imported elsewhere exports the same bytes") {
  const std::string t4 = "export --format t4 --function " + function + " ";
  CHECK(tunedb(t4 + folder.file("a.json")).code == 0);
  const json document = tune::testing::parsed_json(read(folder.file("a.json")));
  CHECK(document["results"][0]["times"]["runtimes"][0] == 0.0015);
  CHECK(document["results"][2]["invalidity"] == "constraints");
  const std::string elsewhere = "--db " + folder.file("b.db") + " ";
  CHECK(tunedb(elsewhere + "import --format t4 " + folder.file("a.json")).code == 0);
  CHECK(tunedb(elsewhere + t4).output == read(folder.file("a.json")));
  json trials = tunedb_json("trials " + function);
  for (json& trial : trials["searches"][0]["trials"]) {
    trial["score_lower_ns"] = trial["score_upper_ns"] = nullptr;  // T4 has no intervals
  }
  CHECK(tunedb_json(elsewhere + "trials " + function) == trials);
}

TEST_CASE_FIXTURE(filled_database,
                  "winners are exported as a header and as JSON, of one function or of all") {
  const std::string header = tunedb("export --format header").output;
  CHECK(contains(header, "namespace tuned::multiply_template_autotune"));
  CHECK(contains(header, "namespace tuned::other_v3"));
  const json document = tune::testing::parsed_json(tunedb("export --format winners").output);
  CHECK(document["functions"].size() == 2);
  CHECK(document["functions"][0]["winners"][0]["tuning"]["wgs"] == 64);
  const std::string one = tunedb("export --format header --function " + function).output;
  CHECK_FALSE(contains(one, "other_v3"));
  const std::string file = folder.file("tuned.hpp");
  CHECK(tunedb("export --format header " + file).code == 0);
  CHECK(tunedb("export --format header " + file).code == 0);  // over an earlier export
  CHECK(read(file) == header);
  CHECK(tunedb("export --format winners --device None 2>&1").code == 3);
}

TEST_CASE(
    "a cache file of Kernel Tuner becomes trials and a prior, or with --same-kernel a result") {
  const filled_database here;
  const std::string file = here.folder.file("cache.json");
  std::ofstream(file) << R"({"device_name": "", "kernel_name": "k", "problem_size": 4,
    "tune_params_keys": ["block_size_x"], "tune_params": {"block_size_x": [32, 64]},
    "objective": "time", "cache": {
    "32": {"block_size_x": 32, "time": 0.002, "times": [0.002]},
    "64": {"block_size_x": 64, "time": "RuntimeFailedConfig"})";
  const auto refused = [&](const std::string& options, int code, const std::string& reason) {
    const ended run = tunedb("import " + file + options + " 2>&1");
    CAPTURE(run.output);
    CHECK(run.code == code);
    CHECK(contains(run.output, reason));
  };
  const std::string of = " --function " + function + " --arg rows=64 --arg type=float32";
  refused("", 2, "--function");
  refused(of, 2, "--device");
  refused(of + " --device X", 1, "--field");
  refused(of + " --device X", 1, file);
  refused(of + " --device X --field wgs", 2, "FIELD=PARAMETER");
  const std::string whole = "import " + file + of + " --device X --field wgs=block_size_x";
  const ended taken = tunedb(whole);
  CHECK(contains(taken.output, "a prior"));
  CHECK(contains(taken.output, "is a cache file of Kernel Tuner: 2 trials, 1 of them measured"));
  const auto results_on_x = [] {
    return tunedb_json("show " + function + " --device X")["results"];
  };
  REQUIRE(results_on_x().size() == 1);
  CHECK(results_on_x()[0]["prior"] == true);
  CHECK(results_on_x()[0]["values"]["wgs"] == 32);
  CHECK(tunedb_json("trials " + function + " --device X")["searches"][0]["trials"].size() == 2);
  CHECK(tunedb_json(whole + " --same-kernel")["results_added"] == 1);
  CHECK(results_on_x().size() == 2);
  // No column of a database has this name.
  std::ofstream(file) << R"({"tune_params_keys": ["a b"], "cache": {"1": {"a b": 1, "time": 1}}})";
  const ended left = tunedb("import " + file + " --function odd --device X 2>&1");
  CAPTURE(left.output);
  CHECK(contains(left.output, "left: "));
  CHECK_FALSE(contains(left.output, "a prior"));
  std::ofstream(file) << "\x1f\x8b\x08";
  refused(of, 1, "is damaged");
  std::ofstream(file) << R"({"ConfigurationSpace": {}, "KernelSpecification": {}})";
  refused(of, 2, "is a tuning problem in T1, without results: tunedb tune");
  std::ofstream(file) << R"({"Results": [{"ComputationResults": []}]})";
  refused(of, 2, "is KTT's own output");
  std::ofstream(file) << R"({"tune_params_keys": ["wgs"], "objective": "score", "cache": {
    "1": {"wgs": 1, "score": 5}, "2": {"wgs": 2, "score": 7}}})";
  refused(of + " --device X", 1, "--objective 'min score' or 'max score'");
  refused(of + " --device X --objective score", 2, "is no goal such as");
  CHECK(contains(tunedb("import " + file + of + " --device X --objective 'max score'").output,
                 "(wgs=2)"));
}

TEST_CASE_FIXTURE(filled_database, "merge brings another database in, and a second time nothing") {
  const std::string elsewhere = "--db " + folder.file("b.db") + " ";
  CHECK(tunedb_json(elsewhere + "merge " + path)["results_added"] == 2);
  const json again = tunedb_json(elsewhere + "merge " + path + " " + path);
  CHECK(again["results_added"] == 0);
  CHECK(again["results_kept"] == 4);
  CHECK(again["searches_known"] == 2);
}

TEST_CASE_FIXTURE(filled_database, "merge and import tell what they could not take, and return 5") {
  const std::string db = "--db " + folder.file("b.db") + " ";
  json document = tune::testing::parsed_json(tunedb("export").output);
  document["functions"][0]["results"][0]["columns"]["device_clock_mhz"] = "fast";
  std::ofstream(folder.file("a.json")) << document.dump();
  const ended import = tunedb(db + "import --json " + folder.file("a.json"));
  CHECK(import.code == 5);
  const json report = tune::testing::parsed_json(import.output);
  CHECK(report["left"] == 1);
  CHECK(report["results_added"] == 1);
  CHECK(contains(report["reasons"][0], "device_clock_mhz"));

  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("UPDATE \"other__3\" SET \"value_wgs\" = 77");
  const ended merge = tunedb(db + "merge " + path);
  CHECK(merge.code == 5);
  CHECK(contains(merge.output, "1 rows of"));
}

TEST_CASE_FIXTURE(filled_database, "a backup is a database of its own with all that this one has") {
  const std::string copy = folder.file("copy.db");
  CHECK(tunedb("export --format sqlite " + copy).code == 0);
  CHECK(tunedb("--db " + copy + " export").output == tunedb("export").output);
  CHECK(tunedb("export --format sqlite " + path + " 2>/dev/null").code == 1);
  CHECK(tunedb("check").code == 0);
}

TEST_CASE_FIXTURE(
    filled_database,
    "no export is written over the database, or what belongs to it, under whatever name") {
  const std::string json_before = tunedb("export").output;
  const std::string before = read(path);
  std::filesystem::create_symlink(path, folder.file("link"));
  std::filesystem::create_symlink(folder.path(), folder.file("folder"));
  std::filesystem::create_directory(path + ".locks");
  std::ofstream(path + "-lock").flush();
  const std::string name = std::filesystem::path(path).filename();
  for (const std::string& file :
       {path, folder.file("link"), folder.file("folder/" + name), folder.file("folder/./" + name),
        path + "-journal", path + "-wal", path + "-shm", path + "-lock", path + "-missed",
        path + ".locks", path + ".locks/00"}) {
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
  CHECK(tunedb("export >> " + path + " 2>/dev/null").code == 1);
  CHECK(tunedb("export /dev/stdout >> " + path + " 2>/dev/null").code == 1);
  CHECK(read(path) == before);
  CHECK_FALSE(std::filesystem::exists(path + "-journal"));
  CHECK(std::filesystem::is_empty(path + "-lock"));
  CHECK(tunedb("export").output == json_before);
  // Another name of the same file, which the database itself does not allow.
  std::filesystem::create_hard_link(path, folder.file("name"));
  CHECK(tunedb("export " + folder.file("name") + " 2>/dev/null").code == 1);
  CHECK(read(path) == before);
}

TEST_CASE_FIXTURE(filled_database,
                  "a file that is no export is replaced only with --force, and an export without") {
  const std::string other = folder.file("other.db");
  tune::tuning_database(other).store(sample_function(), sample_key(), sample_tuning(1), 1);
  const std::string notes = folder.file("notes.txt");
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

TEST_CASE_FIXTURE(
    filled_database,
    "an export goes through links to files and into devices, and takes the place of none") {
  const std::string text = tunedb("export").output;
  const std::string target = folder.file("target");
  const std::string link = folder.file("link");
  std::ofstream(target).flush();
  std::filesystem::create_symlink(target, link);
  CHECK(tunedb("export " + link).code == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(read(target) == text);
  CHECK(tunedb("export /dev/stdout").output == text);
  const std::string out = folder.file("out");
  CHECK(tunedb("export /dev/stdout > " + out).code == 0);
  CHECK(read(out) == text);
  CHECK(tunedb("export /dev/null").code == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::remove(target);
  CHECK(tunedb("export " + link + " 2>/dev/null").code == 1);
  CHECK(tunedb("export " + folder.path().string() + " 2>/dev/null").code == 1);
}

TEST_CASE_FIXTURE(filled_database,
                  "what is only read is not changed, were it the database itself") {
  const std::string before = tunedb("export").output;
  CHECK(tunedb("import " + path).code == 0);  // as merge
  CHECK(tunedb("import --format t4 " + path + " 2>/dev/null").code == 1);
  CHECK(tunedb("merge " + path).code == 0);
  CHECK(tunedb("import-katsdpsigproc " + path + " >/dev/null 2>&1").code != 0);
  CHECK(tunedb("export").output == before);
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
  const json report = tune::testing::parsed_json(run.output);
  CHECK(report["tables"][0]["taken"] == 1);
  CHECK(report["tables"][1]["table"] == "notes");
  CHECK(report["tables"][1]["left"].size() == 1);
  CHECK(tunedb_json(db + "show app_Fill_autotune")["results"][0]["values"]["wgs"] == 128);
}

}  // namespace transfer_commands_test
