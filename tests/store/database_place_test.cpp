// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <string>

#include "libtune/store/database/database_file.hpp"
#include "libtune/store/files/file_system.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/temporary_folder.hpp"

namespace database_place_test {

using tune::database_place;
using tune::detail::place_database;
using tune::testing::captured_errors;

constexpr long nfs = 0x6969;
constexpr long ext4 = 0xef53;

TEST_CASE("a database on this machine, or nobody knows where, is kept where its path says") {
  captured_errors errors;
  for (const std::optional<long> kind : {std::optional(ext4), std::optional<long>()}) {
    const database_place place = place_database("/home/somebody/tuning.db", kind);
    CHECK(place.path == "/home/somebody/tuning.db");
    CHECK(place.shared.empty());
  }
  CHECK(errors.text().empty());
}

TEST_CASE("one on the network is read beneath one of this machine, and says so once") {
  captured_errors errors;
  const auto folder = tune::detail::node_local_folder();
  for (int again = 0; again < 2; ++again) {
    const database_place place = place_database("/net/somebody/tuning.db", nfs);
    if (folder) {
      CHECK(std::filesystem::path(place.path).parent_path() == *folder);
      CHECK(place.shared == "/net/somebody/tuning.db");
    } else {
      CHECK(place.path == "/net/somebody/tuning.db");
      CHECK(place.shared.empty());
    }
  }
  CHECK(errors.count("/net/somebody/tuning.db' is on the network") == 1);
}

TEST_CASE("different databases on the network have different places, the same one the same") {
  if (!tune::detail::node_local_folder()) return;
  const std::string one = place_database("/net/a/tuning.db", nfs).path;
  CHECK(place_database("/net/a/tuning.db", nfs).path == one);
  CHECK(place_database("/net/b/tuning.db", nfs).path != one);
  CHECK(place_database("/net/a/other.db", nfs).path != one);
}

TEST_CASE("a path stays as it was written, and none stays none") {
  const tune::testing::temporary_folder folder;
  CHECK(tune::place_database("").path.empty());
  CHECK(tune::place_database("").shared.empty());
  const std::string path = folder.file("deeper/tuning.db");
  for (int again = 0; again < 2; ++again) CHECK(tune::place_database(path).path == path);
}

}  // namespace database_place_test
