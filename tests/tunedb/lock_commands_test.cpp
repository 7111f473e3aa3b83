// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <string>

#include "libtune/store/database/tuning_lock.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace lock_commands_test {

using nlohmann::json;
using tune::tuning_lock;
using tune::testing::contains;
using tune::testing::ended;
using tune::testing::filled_database;
using tune::testing::function;
using tune::testing::read;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::tunedb;
using tune::testing::tunedb_json;

TEST_CASE("lock writes the results of a database with the digests of their programs") {
  const filled_database here;
  const std::string file = here.folder.file("release.lock");
  const json told = tunedb_json("lock " + file);
  CHECK(told["results"] == 2);
  CHECK(told["functions"] == 2);
  CHECK(told["with_programs"] == 1);
  const tuning_lock lock = tuning_lock::from_json(read(file));
  const auto* found = lock.find(sample_function(), sample_key());
  REQUIRE(found != nullptr);
  CHECK(found->values == sample_tuning(64));
  CHECK(found->programs == std::vector<std::string>{"0123abcd"});
  CHECK(found->score_ns == 1500);
  CHECK(lock.find(sample_function("other", 3), sample_key(32)) != nullptr);
  CHECK(tunedb("lock - ").output == read(file));
}

TEST_CASE("lock takes the functions, keys and devices that are named") {
  const filled_database here;
  CHECK(tuning_lock::from_json(tunedb("lock - --function other").output).size() == 1);
  CHECK(tuning_lock::from_json(tunedb("lock - --function other__3").output).size() == 1);
  CHECK(tunedb("lock - --function other__2 2>&1").code == 3);
  CHECK(tunedb("lock - --device None 2>&1").code == 3);
  const std::string keys = here.folder.file("keys.json");
  std::ofstream(keys) << R"([{"function": "multiply_template.autotune",
                              "key": {"rows": 64, "type": "float32"}}])";
  CHECK(tuning_lock::from_json(tunedb("lock - --keys " + keys).output).size() == 1);
  std::ofstream(keys) << R"([{"function": "multiply_template.autotune",
                              "key": {"rows": 65, "type": "float32"}}])";
  const std::string file = here.folder.file("release.lock");
  const ended refused = tunedb("lock " + file + " --keys " + keys + " 2>&1");
  CHECK(refused.code == 3);
  CHECK(contains(refused.output, "multiply_template.autotune version 0: rows=65, type=float32"));
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("lock replaces an earlier lock, and no other file or the database") {
  const filled_database here;
  const std::string file = here.folder.file("release.lock");
  CHECK(tunedb("lock " + file).code == 0);
  CHECK(tunedb("lock " + file).code == 0);
  std::ofstream(file) << "notes";
  CHECK(tunedb("lock " + file + " 2>&1").code == 1);
  CHECK(tunedb("lock " + file + " --force").code == 0);
  CHECK(tunedb("lock " + here.path + " --force 2>&1").code == 1);
}

TEST_CASE("diff of a database and its lock finds nothing, and then what has changed") {
  const filled_database here;
  const std::string file = here.folder.file("release.lock");
  REQUIRE(tunedb("lock " + file).code == 0);
  const ended same = tunedb("diff " + file + " " + here.path);
  CHECK(same.code == 0);
  CHECK(same.output == "2 results, all the same\n");
  CHECK(tune::detail::parse_json<json>(tunedb("diff " + file + " " + file + " --json").output)
            .empty());

  {
    tune::tuning_database database(here.path);
    database.store(sample_function(), sample_key(), sample_tuning(128), 1200);
    database.store(sample_function(), sample_key(65), sample_tuning(32), 900);
  }
  const ended run = tunedb("diff " + file + " " + here.path + " --json");
  CHECK(run.code == 8);
  const json changes = tune::detail::parse_json<json>(run.output);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0]["change"] == "other tuning");
  CHECK(changes[0]["function"] == function);
  CHECK(changes[0]["before"]["values"]["wgs"] == 64);
  CHECK(changes[0]["after"]["values"]["wgs"] == 128);
  CHECK(changes[1]["change"] == "added");
  CHECK(changes[1]["before"].is_null());
  const ended back = tunedb("diff " + here.path + " " + file);
  CHECK(back.code == 8);
  CHECK(contains(back.output, "removed"));
  CHECK(contains(back.output, "+25.0 %"));
}

TEST_CASE("diff tells an equal tuning of another kernel") {
  const filled_database here;
  const std::string file = here.folder.file("release.lock");
  json lock = tune::detail::parse_json<json>(tunedb("lock -").output);
  lock["functions"][0]["results"][0]["programs"] = {"ffff"};
  std::ofstream(file) << lock.dump();
  const ended run = tunedb("diff " + file + " " + here.path);
  CHECK(run.code == 8);
  CHECK(contains(run.output, "other kernel"));
}

TEST_CASE("diff names a file that is neither a database nor a lock") {
  const filled_database here;
  const std::string file = here.folder.file("release.lock");
  std::ofstream(file) << "{}";
  const ended no_lock = tunedb("diff " + file + " " + here.path + " 2>&1");
  CHECK(no_lock.code == 1);
  CHECK(contains(no_lock.output, "release.lock' is no lock"));
  CHECK(tunedb("diff " + here.folder.file("none") + " " + here.path + " 2>&1").code == 3);
}

TEST_CASE("explain says what a program with a lock uses") {
  const filled_database here;
  const std::string file = here.folder.file("release.lock");
  REQUIRE(tunedb("lock " + file).code == 0);
  const tune::testing::scoped_environment lock("LIBTUNE_LOCK", file.c_str());
  const std::string of = "explain " + function + " --device 'GPU One' --arg type=float32 --arg ";
  const ended found = tunedb(of + "rows=64");
  CHECK(found.code == 0);
  CHECK(contains(found.output, "LIBTUNE_LOCK names '" + file + "'"));
  CHECK(contains(found.output, "wgs=64"));
  const ended missing = tunedb(of + "rows=65 2>&1");
  CHECK(missing.code == 3);
  CHECK(contains(missing.output, "it has this function, but not this key"));
}

}  // namespace lock_commands_test
