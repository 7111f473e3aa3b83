// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Times that cannot be true are refused by the library, and by the tables should it fail to.
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <limits>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace impossible_times_test {

using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double impossible[] = {0.0,      -0.0,      -1.0,
                                 infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};

/// Whether the database takes this as the value of score_ns. NaN becomes NULL in SQLite, which
/// stands for a result that was not measured.
bool takes(const std::string& path, const std::string& table, const std::string& expression) {
  SQLite::Database opened(path, SQLite::OPEN_READWRITE);
  try {
    opened.exec("UPDATE \"" + table + "\" SET score_ns = " + expression);
    return true;
  } catch (const SQLite::Exception&) {
    return false;
  }
}

TEST_CASE("a result with an impossible time is not stored") {
  const tune::testing::temporary_folder folder;
  tune::tuning_database database(folder.file("tuning.db"));
  for (const double time : impossible) {
    CAPTURE(time);
    CHECK_THROWS_AS(database.store(sample_function(), sample_key(), sample_tuning(1), time),
                    tune::argument_error);
  }
  CHECK_FALSE(database.find(sample_function(), sample_key()));
}

TEST_CASE("a trial with an impossible score or sample is not stored") {
  const tune::testing::temporary_folder folder;
  tune::tuning_database database(folder.file("tuning.db"));
  const auto search = database.begin_search(sample_function(), sample_key());
  for (const double time : impossible) {
    CAPTURE(time);
    CHECK_THROWS_AS(
        database.add_trial(search, {.outcome = "measured", .samples_ns = {1}, .score_ns = time}),
        tune::argument_error);
    CHECK_THROWS_AS(database.add_trial(
                        search, {.outcome = "measured", .samples_ns = {1, time}, .score_ns = 1.0}),
                    tune::argument_error);
  }
  CHECK(database.trials(sample_function(), sample_key()).empty());
}

TEST_CASE("the tables themselves refuse impossible times") {
  const tune::testing::temporary_folder folder;
  tune::tuning_database database(folder.file("tuning.db"));
  database.store(sample_function(), sample_key(), sample_tuning(1), 1.0);
  const auto search = database.begin_search(sample_function(), sample_key());
  database.add_trial(search, {.outcome = "measured", .samples_ns = {1}, .score_ns = 1.0});
  for (const std::string table : {"multiply_template.autotune__0", "libtune_trial"}) {
    CAPTURE(table);
    for (const char* expression : {"0", "-0.0", "-1", "9e999", "-9e999", "'fast'", "x'00'"}) {
      CAPTURE(expression);
      CHECK_FALSE(takes(database.path(), table, expression));
    }
    CHECK(takes(database.path(), table, "2.5"));
  }
}

}  // namespace impossible_times_test
