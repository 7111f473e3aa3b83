// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_use.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <thread>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_file.hpp"
#include "tests/store/temporary_folder.hpp"

namespace database_use_test {

using namespace std::chrono_literals;
using tune::detail::database_use;

TEST_CASE("a thread uses a database while it has a transaction or runs a statement") {
  const tune::testing::temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  tune::detail::create_private_file(path);
  tune::detail::connection opened(path, 60s, 60s);
  CHECK_FALSE(database_use::is_active());
  {
    tune::detail::write_transaction transaction(opened, 60s);
    CHECK(database_use::is_active());
    bool elsewhere = true;
    std::jthread([&] { elsewhere = database_use::is_active(); }).join();
    CHECK_FALSE(elsewhere);
    transaction.commit();
  }
  CHECK_FALSE(database_use::is_active());
  SQLite::Statement statement(opened.database(), "SELECT 1");
  {
    const tune::detail::statement_run run(statement);
    CHECK(database_use::is_active());
  }
  CHECK_FALSE(database_use::is_active());
}

}  // namespace database_use_test
