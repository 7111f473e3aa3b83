// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Clocks that are ten years ahead or behind, and clocks that are set back. Dates are for people: no
// lookup, no rule of who comes first and no search depends on them, and nothing is lost.
#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/extra/maintenance/prune.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/fault_vfs.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace clock_test {

using tune::match_mode;
using tune::tuning_database;
using tune::testing::fault_vfs;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

constexpr std::chrono::hours year{24 * 365};
const std::vector<std::chrono::seconds> skews{-10 * year, 10 * year};

std::string date_of(const std::string& path, std::int64_t rows) {
  const SQLite::Database opened(path);
  SQLite::Statement select(opened,
                           "SELECT tuned_at FROM \"multiply_template.autotune__0\" "
                           "WHERE arg_rows = ?");
  select.bind(1, rows);
  return select.executeStep() ? select.getColumn(0).getString() : std::string();
}

std::string date_with(std::chrono::seconds skew) {
  fault_vfs vfs;
  vfs.skew_clock(skew);
  return SQLite::Database(":memory:").execAndGet("SELECT strftime('%Y-%m-%d', 'now')").getString();
}

/// Stores a result with a clock that is wrong.
void store_with(std::chrono::seconds skew, const std::string& path, std::int64_t rows,
                std::int64_t wgs) {
  fault_vfs vfs;
  vfs.skew_clock(skew);
  tuning_database(path).store(sample_function(), sample_key(rows), sample_tuning(wgs), 1);
}

TEST_CASE("results are found whatever the clocks of those who stored and look for them say") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  std::int64_t rows = 0;
  for (const auto skew : skews) {
    ++rows;
    store_with(skew, path, rows, rows);
    CHECK(date_of(path, rows).starts_with(date_with(skew)));
  }
  for (const auto skew : skews) {
    fault_vfs vfs;
    vfs.skew_clock(skew);
    for (std::int64_t row = 1; row <= rows; ++row) {
      tuning_database database(path);
      CHECK(database.find(sample_function(), sample_key(row))->values == sample_tuning(row));
      const tune::device_identity other{"GPU One", "Some Platform", "1"};
      CHECK(database.find(sample_function(), sample_key(row, other), match_mode::nearest));
    }
  }
}

TEST_CASE("the first result stays, though the second is dated ten years before it") {
  for (const auto skew : skews) {
    const temporary_folder folder;
    const std::string path = folder.file("tuning.db");
    store_with(std::chrono::seconds(0), path, 64, 1);
    fault_vfs vfs;
    vfs.skew_clock(skew);
    const auto kept =
        tuning_database(path).store_first(sample_function(), sample_key(), sample_tuning(2), 0.5);
    CHECK(kept.values == sample_tuning(1));
  }
}

TEST_CASE("a result that replaces another does so on a clock that was set back, too") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  store_with(10 * year, path, 64, 1);
  store_with(-10 * year, path, 64, 2);
  CHECK(tuning_database(path).find(sample_function(), sample_key())->values == sample_tuning(2));
}

TEST_CASE("the latest search is the one that was begun last, not the one with the latest date") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  for (const auto skew : {10 * year, -10 * year}) {
    fault_vfs vfs;
    vfs.skew_clock(skew);
    tuning_database database(path);
    const auto search = database.begin_search(sample_function(), sample_key());
    database.add_trial(search, {.configuration = sample_tuning(skew > skew.zero() ? 1 : 2),
                                .outcome = "measured"});
    if (skew > skew.zero()) database.finish_search(search, "found");
  }
  tuning_database database(path);
  const auto left = database.unfinished_search(sample_function(), sample_key(), 0);
  REQUIRE(left);
  REQUIRE(left->trials.size() == 1);
  CHECK(left->trials[0].configuration == sample_tuning(2));
}

TEST_CASE("pruning by date takes what is dated before it and nothing else") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  store_with(-10 * year, path, 1, 1);
  store_with(std::chrono::seconds(0), path, 2, 2);
  store_with(10 * year, path, 3, 3);
  const std::string a_year_ago = date_with(-year);
  CHECK(tune::prune_database(path, {.before = a_year_ago}).results == 1);
  tuning_database database(path);
  CHECK_FALSE(database.find(sample_function(), sample_key(1)));
  CHECK(database.find(sample_function(), sample_key(2)));
  CHECK(database.find(sample_function(), sample_key(3)));
}

TEST_CASE("databases of clocks that disagree merge to the same in either order") {
  const temporary_folder folder;
  const std::string early = folder.file("early.db");
  const std::string late = folder.file("late.db");
  store_with(-10 * year, early, 64, 1);
  store_with(10 * year, late, 64, 2);
  store_with(10 * year, late, 65, 3);
  const std::string one = folder.file("one.db");
  const std::string other = folder.file("other.db");
  for (const std::string& from : {early, late}) {
    tune::merge_content(one, tune::database_reader(from).read_all());
  }
  for (const std::string& from : {late, early}) {
    tune::merge_content(other, tune::database_reader(from).read_all());
  }
  CHECK(canonical_text(tune::database_reader(one).read_all()) ==
        canonical_text(tune::database_reader(other).read_all()));
  CHECK(tuning_database(one).find(sample_function(), sample_key(65)));
}

}  // namespace clock_test
