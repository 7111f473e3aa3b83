// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/layers.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tunedb/selection.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace layers_test {

using tune::tuning_database;
using tune::cli::find_layers;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

void store(const std::string& path, int version) {
  tuning_database(path).store(sample_function("f", version), sample_key(), sample_tuning(64), 1);
}

TEST_CASE("layers are in the order of a lookup, each with its role and what it has") {
  const temporary_folder folder;
  store(folder.file("one.db"), 3);
  const auto layers =
      find_layers(folder.file("user.db"), {folder.file("one.db"), folder.file("none.db")});
  REQUIRE(layers.size() == 3);
  CHECK(layers[0].role == "user");
  CHECK(layers[0].state() == "empty");
  CHECK_FALSE(layers[0].can_be_used());
  CHECK(layers[1].role == "system 1");
  CHECK(layers[1].state() == "in use");
  CHECK(layers[1].functions.size() == 1);
  CHECK(layers[1].read(sample_function("f", 3)).results.size() == 1);
  CHECK(layers[2].state() == "passed over: there is no such file");
  CHECK_FALSE(std::filesystem::exists(folder.file("user.db")));
  CHECK(find_layers("", {}).empty());
}

TEST_CASE("a layer that cannot be read says why and harms no other") {
  const temporary_folder folder;
  std::ofstream(folder.file("junk.db")) << std::string(5000, 'x');
  store(folder.file("good.db"), 0);
  const auto layers = find_layers(folder.file("good.db"), {folder.file("junk.db"), "no/file/"});
  CHECK(layers[0].can_be_used());
  CHECK(layers[1].state().find("passed over: ") == 0);
  CHECK(layers[2].state().find("passed over: ") == 0);
  CHECK(layers[1].read(sample_function()).results.empty());
}

TEST_CASE("a function is that of the version, else of the highest in any layer") {
  const temporary_folder folder;
  store(folder.file("user.db"), 1);
  store(folder.file("system.db"), 2);
  const auto layers = find_layers(folder.file("user.db"), {folder.file("system.db")});
  CHECK(find_function(layers, "f").version == 2);
  CHECK(find_function(layers, "f__1").version == 1);
  CHECK_THROWS_WITH_AS(find_function(layers, "f__7"), doctest::Contains("user.db is in use"),
                       tune::cli::nothing_found);
}

}  // namespace layers_test
