// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "libtune/base/json.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace simulate_command_test {

using namespace tune::testing;
using nlohmann::json;

/// A cache file of Kernel Tuner: 400 configurations with one best.
std::string cache_text() {
  json document{{"device_name", "A GPU"},
                {"kernel_name", "k"},
                {"objective", "time"},
                {"tune_params_keys", {"x", "y"}},
                {"cache", json::object()}};
  for (int x = 0; x < 20; ++x) {
    for (int y = 0; y < 20; ++y) {
      const double time = 1 + (x - 12) * (x - 12) + (y - 4) * (y - 4);
      document["cache"][std::to_string(x) + "," + std::to_string(y)] = {
          {"x", x}, {"y", y}, {"time", time}, {"compile_time", 50.0}, {"power", 100 - time / 10}};
    }
  }
  return document.dump();
}

struct with_file {
  with_file() { std::ofstream(file) << cache_text(); }

  temporary_directory folder;
  std::string file = (folder.path() / "bowl.json").string();
};

TEST_CASE_FIXTURE(with_file, "strategies are compared with random search in a recorded space") {
  const json told =
      tunedb_json("simulate " + file + " --strategy random --strategy model --searches 40");
  CHECK(told["space"] == "bowl");
  CHECK(told["configurations"] == 400);
  CHECK(told["measured"] == 400);
  CHECK(told["optimum_ms"] == 1.0);
  REQUIRE(told["strategies"].size() == 2);
  CHECK(told["strategies"][0]["strategy"] == "random");
  CHECK(told["strategies"][0]["scores"].size() == 40);
  CHECK(told["strategies"][1]["score"].get<double>() >
        told["strategies"][0]["score"].get<double>());
  const ended table = tunedb("simulate " + file + " --strategy local --searches 2");
  CHECK(table.code == 0);
  CHECK(contains(table.output, "bowl: 400 configurations, 400 of them measured"));
  CHECK(contains(table.output, "best / optimum"));
}

TEST_CASE_FIXTURE(with_file, "another figure than the file's may be compared") {
  const json told =
      tunedb_json("simulate " + file + " --strategy random --searches 1 --objective 'max power'");
  CHECK(told["optimum_ms"].get<double>() == doctest::Approx(1 / 99.9));
  const ended wrong = tunedb("simulate " + file + " --objective power 2>&1");
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.output, "is no objective such as"));
  CHECK(tunedb("simulate " + file + " --strategy guessing 2>/dev/null").code == 1);
}

TEST_CASE_FIXTURE(with_file, "a database is a recording, too, of one function") {
  const std::string database = (folder.path() / "a.db").string();
  REQUIRE(tunedb("--db " + database + " import " + file + " --function f").code == 0);
  CHECK(contains(tunedb("simulate " + database + " 2>&1").output, "--function"));
  const json told =
      tunedb_json("simulate " + database + " --function f --strategy random --searches 1");
  CHECK(told["configurations"] == 400);
  CHECK(told["optimum_ms"] == 1.0);
}

TEST_CASE_FIXTURE(with_file, "files with gzip are read by simulate and by import") {
  if (std::system(("gzip " + file + " 2>/dev/null").c_str()) != 0) return;  // no gzip here
  CHECK(tunedb_json("simulate " + file + ".gz --strategy random --searches 1")["space"] == "bowl");
  const std::string database = (folder.path() / "a.db").string();
  CHECK(contains(tunedb("--db " + database + " import " + file + ".gz --function f").output,
                 "is a cache file of Kernel Tuner: 400 trials"));
}

TEST_CASE_FIXTURE(with_file, "a report has the typical search of each strategy") {
  const std::string page = (folder.path() / "page.html").string();
  const ended made =
      tunedb("simulate " + file + " --strategy random --strategy genetic --searches 3 --report " +
             page + " 2>&1");
  if (contains(made.output, "node-d3")) return;  // there are no pictures without it
  CAPTURE(made.output);
  CHECK(made.code == 0);
  std::ifstream written(page);
  const std::string text{std::istreambuf_iterator<char>(written), {}};
  CHECK(contains(text, "simulated.bowl"));
  CHECK(contains(text, "\"strategy\":\"genetic\""));
  CHECK(contains(text, "\"strategy\":\"random\""));
}

}  // namespace simulate_command_test
