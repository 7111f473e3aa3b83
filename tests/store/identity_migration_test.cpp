// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/identity_migration.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <string>

#include "libtune/store/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"
#include "tests/store/version_1.hpp"

namespace identity_migration_test {

using tune::match_grade;
using tune::testing::create_version_1;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

TEST_CASE("of a device of version 1 the limits are unknown, so that it is a nearest match") {
  const temporary_folder folder;
  tune::tuning_database database(create_version_1(folder));
  tune::device_identity known = sample_device();
  known.legality.work_group = 1024;
  CHECK_FALSE(database.find(sample_function(), sample_key(64, known)));
  const auto found =
      database.find(sample_function(), sample_key(64, known), tune::match_mode::nearest);
  REQUIRE(found);
  CHECK(found->grade == match_grade::nearest);
  CHECK(found->step == tune::match_step::any);
  CHECK(found->relaxed == std::vector<std::string>{"device_work_group"});
  CHECK(found->values == sample_tuning(128));
}

TEST_CASE("a migrated table keeps results of devices apart that differ in their limits alone") {
  const temporary_folder folder;
  tune::tuning_database database(create_version_1(folder));
  tune::device_identity known = sample_device();
  known.legality.work_group = 1024;
  database.store(sample_function(), sample_key(64, known), sample_tuning(8), 1);
  CHECK(database.find(sample_function(), sample_key(64, known))->values == sample_tuning(8));
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(128));
}

TEST_CASE("a migrated table takes no other values than a new one") {
  const temporary_folder folder;
  const std::string path = create_version_1(folder);
  REQUIRE(tune::tuning_database(path).find(sample_function(), sample_key()));
  SQLite::Database opened(path, SQLite::OPEN_READWRITE);
  const std::string update = "UPDATE \"multiply_template.autotune__0\" SET ";
  CHECK_THROWS_AS(opened.exec(update + "score_ns = -1"), SQLite::Exception);
  CHECK_THROWS_AS(opened.exec(update + "value_wgs = 'x'"), SQLite::Exception);
  CHECK_THROWS_AS(opened.exec(update + "value_wgs = NULL"), SQLite::Exception);
  CHECK_THROWS_AS(opened.exec(update + "device_clock_mhz = 'x'"), SQLite::Exception);
}

}  // namespace identity_migration_test
