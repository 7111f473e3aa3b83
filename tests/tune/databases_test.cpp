// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/databases.hpp"

#include <doctest/doctest.h>

#include "libtune/store/tuning_layers.hpp"
#include "libtune/testing/temporary_directory.hpp"

TEST_CASE("the database that was used last stays open") {
  const tune::testing::temporary_directory folder;
  const auto first = tune::open_database((folder / "a.db").string());
  CHECK(tune::open_database((folder / "a.db").string()) == first);
  const auto other = tune::open_database((folder / "b.db").string());
  CHECK(other != first);
  CHECK(tune::open_database((folder / "b.db").string()) == other);
}

TEST_CASE("layers stay open as long as the same are asked for") {
  const tune::testing::temporary_directory folder;
  const std::string user = (folder / "a.db").string();
  const std::vector<std::string> systems{(folder / "b.db").string(), "no/file/"};
  const auto first = tune::open_layers(user, systems);
  CHECK(tune::open_layers(user, systems) == first);
  CHECK(tune::open_layers(user, systems, tune::database_access::read_only) != first);
  CHECK(tune::open_layers(user, {}) != first);
  CHECK(tune::open_layers("", {})->empty());
  CHECK(tune::open_layers("", {})->user() == nullptr);
}

TEST_CASE("an empty path is no database") { CHECK(tune::open_database("") == nullptr); }
