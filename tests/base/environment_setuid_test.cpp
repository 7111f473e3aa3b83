// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtune/base/environment.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace environment_setuid_test {

namespace fs = std::filesystem;

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

TEST_CASE("a setuid program does not see the environment of whoever starts it") {
  if (::geteuid() != 0) {
    MESSAGE("only the superuser can make a program setuid");
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

}  // namespace environment_setuid_test
