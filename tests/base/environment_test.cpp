// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/environment.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace environment_test {

namespace fs = std::filesystem;
using tune::testing::scoped_environment;

TEST_CASE("the table names each variable once") {
  std::set<std::string> names;
  for (const auto& variable : tune::environment_variables()) {
    CHECK(names.insert(variable.name).second);
    CHECK(std::string(variable.meaning).size() > 10);
  }
}

TEST_CASE("a variable is read each time that it is asked for") {
  const scoped_environment first("LIBTUNE_DB", "/tmp/a.db");
  CHECK(tune::read_environment("LIBTUNE_DB") == "/tmp/a.db");
  {
    const scoped_environment second("LIBTUNE_DB", "/tmp/b.db");
    CHECK(tune::read_environment("LIBTUNE_DB") == "/tmp/b.db");
  }
  CHECK(tune::read_environment("LIBTUNE_DB") == "/tmp/a.db");
}

TEST_CASE("an unset variable and an empty one are absent") {
  const scoped_environment unset("LIBTUNE_DB", nullptr);
  CHECK_FALSE(tune::read_environment("LIBTUNE_DB"));
  const scoped_environment empty("LIBTUNE_DB", "");
  CHECK_FALSE(tune::read_environment("LIBTUNE_DB"));
}

TEST_CASE("an index is a non-negative integer and nothing else") {
  {
    const scoped_environment good("LIBTUNE_DEVICE", "12");
    CHECK(tune::read_environment_index("LIBTUNE_DEVICE") == 12);
  }
  for (const char* bad : {"-1", "1.5", "one", "0x2", " 1", "1 ", "99999999999999999999999"}) {
    const scoped_environment setting("LIBTUNE_DEVICE", bad);
    CAPTURE(bad);
    try {
      tune::read_environment_index("LIBTUNE_DEVICE");
      FAIL("accepted");
    } catch (const tune::environment_error& failure) {
      CHECK(failure.variable() == "LIBTUNE_DEVICE");
      CHECK(std::string(failure.what()).find(bad) != std::string::npos);
    }
  }
}

TEST_CASE("a choice is one of its words, or an error that lists them") {
  const auto read = [] {
    return tune::read_environment_choice<int>("LIBTUNE_MATCH", {{"exact", 1}, {"nearest", 2}});
  };
  {
    const scoped_environment setting("LIBTUNE_MATCH", "nearest");
    CHECK(read() == 2);
  }
  const scoped_environment setting("LIBTUNE_MATCH", "Nearest");
  CHECK_THROWS_WITH_AS(read(), doctest::Contains("LIBTUNE_MATCH is 'Nearest'"),
                       tune::environment_error);
  CHECK_THROWS_WITH_AS(read(), doctest::Contains("exact, nearest"), tune::environment_error);
}

/// The exit status of the program, run by an ordinary user with LIBTUNE_DB set.
int run_as_user(const std::string& program) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    char variable[] = "LIBTUNE_DB=/tmp/x.db";
    char* environment[] = {variable, nullptr};
    std::string name = program;
    char* arguments[] = {name.data(), nullptr};
    if (::setgid(65534) == 0 && ::setuid(65534) == 0) {
      ::execve(program.c_str(), arguments, environment);
    }
    ::_exit(9);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// False for a program below a closed folder, such as the superuser's home.
bool others_reach(const fs::path& program) {
  for (fs::path at = fs::canonical(program).parent_path(); at.has_relative_path();
       at = at.parent_path()) {
    if ((fs::status(at).permissions() & fs::perms::others_exec) == fs::perms::none) return false;
  }
  return true;
}

TEST_CASE("a setuid program does not see the environment of the user who starts it") {
  if (::geteuid() != 0) {
    MESSAGE("only the superuser can make a program setuid");
    return;
  }
  if (!others_reach(LIBTUNE_ENVIRONMENT_PROBE)) {
    MESSAGE("other users cannot reach the build folder");
    return;
  }
  const tune::testing::temporary_directory folder;
  struct statvfs mounted {};
  REQUIRE(::statvfs((folder / "").c_str(), &mounted) == 0);
  if ((mounted.f_flag & ST_NOSUID) != 0) return;  // nothing there can be setuid
  ::chmod((folder / "").c_str(), 0755);
  const std::string program = (folder / "probe").string();
  fs::copy_file(LIBTUNE_ENVIRONMENT_PROBE, program);
  REQUIRE(::chmod(program.c_str(), 0755) == 0);
  CHECK(run_as_user(program) == 0);
  REQUIRE(::chmod(program.c_str(), 04755) == 0);
  CHECK(run_as_user(program) == 1);
}

TEST_CASE("the version is three numbers with dots between them") {
  const std::string_view version = tune::library_version();
  CHECK(std::ranges::count(version, '.') == 2);
  CHECK(version.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace environment_test
