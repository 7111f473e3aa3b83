// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/databases.hpp"

#include <doctest/doctest.h>
#include <filesystem>

#include "libtune/store/database/record_memory.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace databases_test {

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

TEST_CASE("a shared database lies between the user's and the system's, and is only read") {
  const tune::testing::temporary_directory folder;
  const tune::function_identity function{.name = "f",
                                         .value_fields = {{"wgs", tune::value_type::int32}}};
  const auto values_of = [](std::int64_t wgs) {
    return std::vector<tune::named_value>{{"wgs", wgs}};
  };
  const std::string shared = (folder / "shared.db").string();
  const std::string system = (folder / "system.db").string();
  tune::tuning_database(system).store(function, {}, values_of(3), 1);
  const auto found_with = [&](const std::string& path) {
    tune::record_memory::shared().forget_all();
    return tune::open_layers((folder / "user.db").string(), {system},
                             tune::database_access::read_write, path)
        ->find(function, {})
        ->values;
  };
  CHECK(found_with(shared) == values_of(3));  // it need not be there
  CHECK_FALSE(std::filesystem::exists(shared));
  tune::tuning_database(shared).store(function, {}, values_of(2), 1);
  CHECK(found_with(shared) == values_of(2));
  CHECK(found_with("") == values_of(3));
  tune::open_layers((folder / "user.db").string(), {system}, tune::database_access::read_write,
                    shared)
      ->user()
      ->store(function, {}, values_of(1), 1);
  CHECK(found_with(shared) == values_of(1));
  CHECK(tune::tuning_database(shared).find(function, {})->values == values_of(2));
}

TEST_CASE("an empty path is no database") { CHECK(tune::open_database("") == nullptr); }

}  // namespace databases_test
