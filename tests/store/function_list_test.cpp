// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/maintenance/function_list.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace function_list_test {

using namespace std::chrono_literals;
using tune::function_identity;
using tune::value_type;
using tune::detail::connection;
using tune::detail::read_functions;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

void store(const std::string& path, const function_identity& function) {
  tune::tuning_database(path).store(function, sample_key(), sample_tuning(1), 1);
}

std::vector<function_identity> functions_of(const std::string& path, std::size_t damaged = 0) {
  connection opened(path, 1s, 1s);
  std::size_t found = 0;
  std::vector<function_identity> functions = read_functions(opened, found);
  CHECK(found == damaged);
  return functions;
}

TEST_CASE("functions come by name and version, with their fields in order") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  const std::vector<function_identity> stored{sample_function("a.b", 2), sample_function("a.b", 10),
                                              sample_function("z", 0)};
  for (const std::size_t i : {2, 1, 0}) store(path, stored[i]);
  CHECK(functions_of(path) == stored);
}

TEST_CASE("optional fields and every type are known again") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  const function_identity function{
      .name = "f",
      .version = 1,
      .key_fields = {{"z", value_type::uint64, true}, {"a", value_type::enumeration}},
      .value_fields = {{"x", value_type::float64, true}}};
  tune::tuning_database(path).store(function,
                                    {.arguments = {{"z", tune::value()}, {"a", std::string("e")}},
                                     .device = tune::testing::sample_device()},
                                    {{"x", 0.5}}, 1);
  CHECK(functions_of(path) == std::vector{function});
}

TEST_CASE("a function whose table is gone, or is another, is left out and counted") {
  for (const char* change :
       {"DROP TABLE f__0", "ALTER TABLE f__0 RENAME COLUMN value_wgs TO value_other",
        "UPDATE libtune_function SET columns = 'arg_rows nonsense'",
        "UPDATE libtune_function SET version = 1"}) {
    CAPTURE(change);
    const temporary_folder folder;
    const std::string path = folder.file("tuning.db");
    store(path, sample_function("f"));
    store(path, sample_function("g"));
    std::string sql = change;
    if (sql.starts_with("UPDATE")) sql += " WHERE name = 'f'";
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
    const bool gone = sql.starts_with("DROP");
    if (gone) {
      connection opened(path, 1s, 1s);
      std::size_t damaged = 0;
      CHECK_THROWS_AS(read_functions(opened, damaged), SQLite::Exception);
    } else {
      CHECK(functions_of(path, 1) == std::vector{sample_function("g")});
    }
  }
}

}  // namespace function_list_test
