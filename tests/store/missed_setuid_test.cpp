// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "libtune/store/database/missed_keys.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/store/child_process.hpp"

namespace missed_setuid_test {

namespace fs = std::filesystem;

constexpr ::uid_t nobody = 65534;

int run(const std::string& program, const std::string& file, ::uid_t user) {
  return tune::testing::in_child([&] {
    if (::setgid(user) != 0 || ::setuid(user) != 0) return 9;
    ::execl(program.c_str(), program.c_str(), file.c_str(), nullptr);
    return 8;
  });
}

TEST_CASE("a program with raised privileges notes no key") {
  if (::geteuid() != 0) {
    MESSAGE("only the superuser can make a program setuid");
    return;
  }
  const tune::testing::temporary_directory folder;
  struct statvfs mounted {};
  REQUIRE(::statvfs(folder.path().c_str(), &mounted) == 0);
  if ((mounted.f_flag & ST_NOSUID) != 0) return;  // nothing there can be setuid
  ::chmod(folder.path().c_str(), 0755);
  const std::string program = folder / "probe";
  const std::string file = folder / "keys";
  fs::copy_file(LIBTUNE_MISSED_PROBE, program);
  REQUIRE(::chmod(program.c_str(), 04755) == 0);
  CHECK(run(program, file, nobody) == 0);
  CHECK_FALSE(fs::exists(file));
  // The superuser's own call of it has no more privileges than before.
  CHECK(run(program, file, 0) == 0);
  CHECK(tune::missed_keys(file).read().keys.size() == 1);
}

}  // namespace missed_setuid_test
