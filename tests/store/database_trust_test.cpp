// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace database_trust_test {

namespace fs = std::filesystem;
using tune::database_error;
using tune::tuning_database;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::scoped_environment;
using tune::testing::temporary_folder;

void store(const std::string& path) {
  tuning_database(path).store(sample_function(), sample_key(), sample_tuning(1), 1);
}

bool is_refused(const std::string& path) {
  try {
    store(path);
    return false;
  } catch (const database_error&) {
    CHECK_THROWS_AS(tuning_database(path).find(sample_function(), sample_key()), database_error);
    return true;
  }
}

TEST_CASE("a folder or file that others may write is not used, and nothing is put there") {
  for (const unsigned mode : {0770U, 0702U}) {
    const temporary_folder folder;
    fs::permissions(folder.path(), fs::perms(mode));
    CHECK_THROWS_WITH_AS(store(folder.file("tuning.db")), doctest::Contains("chmod"),
                         database_error);
    CHECK(fs::is_empty(folder.path()));
  }
  for (const unsigned mode : {0660U, 0602U}) {
    const temporary_folder folder;
    store(folder.file("tuning.db"));
    fs::permissions(folder.file("tuning.db"), fs::perms(mode));
    CHECK(is_refused(folder.file("tuning.db")));
    fs::permissions(folder.file("tuning.db"), fs::perms(0644));
    CHECK_FALSE(is_refused(folder.file("tuning.db")));
  }
}

TEST_CASE("in a folder for everybody's temporary files, a folder of one's own is what helps") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  store(path);
  fs::permissions(folder.path(), fs::perms(01777));
  CHECK_THROWS_WITH_AS(store(path), doctest::Contains("mkdir -m 700"), database_error);
  CHECK(is_refused(path));
  const std::string own = folder.file("own");
  fs::create_directory(own);
  fs::permissions(own, fs::perms(0700));
  CHECK_FALSE(is_refused(own + "/tuning.db"));
}

TEST_CASE("a file with two names, a pipe and a link are not used") {
  const temporary_folder folder;
  store(folder.file("real.db"));
  fs::create_hard_link(folder.file("real.db"), folder.file("hard.db"));
  CHECK(is_refused(folder.file("hard.db")));
  REQUIRE(::mkfifo(folder.file("pipe.db").c_str(), 0600) == 0);
  CHECK(is_refused(folder.file("pipe.db")));
  fs::create_symlink("elsewhere.db", folder.file("link.db"));
  CHECK(is_refused(folder.file("link.db")));
  CHECK_FALSE(fs::exists(folder.file("elsewhere.db")));
}

TEST_CASE("another user's folder or file is not used") {
  if (::geteuid() != 0) return;  // only the superuser can give files away
  const temporary_folder folder;
  store(folder.file("tuning.db"));
  REQUIRE(::chown(folder.file("tuning.db").c_str(), 65534, 65534) == 0);
  CHECK(is_refused(folder.file("tuning.db")));
  REQUIRE(::chown(folder.file("tuning.db").c_str(), 0, 0) == 0);
  REQUIRE(::chown(folder.path().c_str(), 65534, 65534) == 0);
  CHECK(is_refused(folder.file("tuning.db")));
}

TEST_CASE("a group may share a database if it says so, the world may not") {
  const scoped_environment shared("LIBTUNE_DB_ACCESS", "shared");
  const temporary_folder folder;
  fs::permissions(folder.path(), fs::perms(0770));
  CHECK_FALSE(is_refused(folder.file("tuning.db")));
  CHECK(fs::status(folder.file("tuning.db")).permissions() == fs::perms(0660));
  fs::permissions(folder.file("tuning.db"), fs::perms(0666));
  CHECK(is_refused(folder.file("tuning.db")));
  const scoped_environment bad("LIBTUNE_DB_ACCESS", "everybody");
  CHECK_THROWS_AS(tune::detail::require_trust(folder.file("tuning.db")), tune::environment_error);
}

TEST_CASE("any umask leaves a database that works") {
  for (const ::mode_t mask : {0000U, 0022U, 0777U}) {
    const temporary_folder folder;
    const ::mode_t before = ::umask(mask);
    store(folder.file("deeper/tuning.db"));
    const bool found(
        tuning_database(folder.file("deeper/tuning.db")).find(sample_function(), sample_key()));
    ::umask(before);
    CHECK(found);
    CHECK(fs::status(folder.file("deeper/tuning.db")).permissions() == fs::perms(0600));
    CHECK(fs::status(folder.file("deeper")).permissions() == fs::perms(0700));
  }
}

TEST_CASE("a folder that came to the path while the database was open is judged anew") {
  const temporary_folder place;
  const std::string path = place.file("own/tuning.db");
  store(path);
  store(place.file("bad/tuning.db"));
  fs::permissions(place.path() / "bad", fs::perms(0777));
  tuning_database database(path);
  REQUIRE(database.find(sample_function(), sample_key()));
  fs::rename(place.path() / "own", place.path() / "away");
  fs::rename(place.path() / "bad", place.path() / "own");
  CHECK_THROWS_WITH_AS(database.find(sample_function(), sample_key()),
                       doctest::Contains("written by everybody"), database_error);
  CHECK_THROWS_AS(database.store(sample_function(), sample_key(3), sample_tuning(3), 1),
                  database_error);
  fs::rename(place.path() / "own", place.path() / "bad");
  fs::rename(place.path() / "away", place.path() / "own");
  CHECK(database.find(sample_function(), sample_key()));
}

}  // namespace database_trust_test
