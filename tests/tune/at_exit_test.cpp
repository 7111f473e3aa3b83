// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <cstdio>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>

#include "libtune/testing/fixtures.hpp"
#include "tests/store/temporary_folder.hpp"

namespace at_exit_test {

using tune::testing::scoped_environment;
using tune::testing::temporary_folder;

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             ::pclose);
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

TEST_CASE("static objects and threads tune when main has returned, and all of it is stored") {
  const temporary_folder folder;
  const scoped_environment database("LIBTUNE_DB", folder.file("db").c_str());
  const scoped_environment cache("LIBTUNE_CACHE", folder.file("cache").c_str());
  const scoped_environment system("LIBTUNE_SYSTEM_DB", nullptr);
  const scoped_environment level("LIBTUNE_LOG", "warning");
  const scoped_environment isolation("LIBTUNE_ISOLATION", "off");
  const std::string program = LIBTUNE_TUNING_AT_EXIT;
  CHECK(output_of("'" + program + "' 2>&1; echo $?") ==
        "main: size=64 wgs=2 rows=1 searches=1\n"
        "destructor: size=64 wgs=2 rows=1 searches=0\n"
        "destructor: size=65 wgs=2 rows=1 searches=1\n"
        "thread: size=64 wgs=2 rows=1 searches=0\n"
        "thread: size=66 wgs=2 rows=1 searches=1\n"
        "libtune: warning: the last line\n"
        "libtune: warning: the last warning\n"
        "not sealed\n"
        "0\n");
  CHECK(SQLite::Database(folder.file("db"))
            .execAndGet("SELECT count(*) FROM \"sample.scale__0\"")
            .getInt() == 3);
}

}  // namespace at_exit_test
