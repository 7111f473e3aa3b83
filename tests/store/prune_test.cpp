// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/prune.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/store/database_reader.hpp"
#include "libtune/store/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

using tune::database_reader;
using tune::prune_database;
using tune::prune_report;
using tune::tuning_database;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

namespace {

/// Two functions with a result each, and a search of the first for a key without a result.
void fill(const std::string& path) {
  tuning_database database(path);
  for (const std::int64_t rows : {64, 128}) {
    const auto search = database.begin_search(sample_function(), sample_key(rows));
    database.add_trial(search, {.configuration = sample_tuning(64), .outcome = "compile failed"});
  }
  database.store(sample_function(), sample_key(64), sample_tuning(64), 10);
  tune::device_identity other = sample_device();
  other.name = "GPU Two";
  database.store(sample_function("other"), sample_key(64, other), sample_tuning(64), 10);
}

}  // namespace

TEST_CASE("searches without a result are removed, their trials with them") {
  const temporary_folder folder;
  fill(folder.file("db"));
  const prune_report report = prune_database(folder.file("db"), {.orphans = true});
  CHECK(report.results == 0);
  CHECK(report.searches == 1);
  const auto functions = database_reader(folder.file("db")).functions();
  CHECK(functions[0].searches == 1);
  CHECK(functions[0].trials == 1);
}

TEST_CASE("a device, an age and a function are removed each") {
  const temporary_folder folder;
  fill(folder.file("db"));
  CHECK(prune_database(folder.file("db"), {.before = "2020-01-01"}).results == 0);
  CHECK(prune_database(folder.file("db"), {.device = "GPU Two"}).results == 1);
  CHECK(prune_database(folder.file("db"), {.before = "9999-01-01"}).searches == 2);
  const prune_report report =
      prune_database(folder.file("db"), {.function = sample_function().name});
  CHECK(report.functions == 1);
  CHECK(database_reader(folder.file("db")).functions().size() == 1);
  // Its name and version are free for other fields now.
  auto changed = sample_function();
  changed.key_fields[0].type = tune::value_type::int64;
  CHECK_NOTHROW(tuning_database(folder.file("db"))
                    .store(changed, sample_key(), sample_tuning(1), std::nullopt));
}

TEST_CASE("a dry run counts and changes nothing; nothing at all is refused") {
  const temporary_folder folder;
  fill(folder.file("db"));
  const std::string before = canonical_text(database_reader(folder.file("db")).read_all());
  CHECK(prune_database(folder.file("db"), {.before = "9999-01-01", .dry_run = true}).results == 2);
  CHECK(canonical_text(database_reader(folder.file("db")).read_all()) == before);
  CHECK_THROWS_AS(prune_database(folder.file("db"), {}), tune::argument_error);
}
