// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace system_trust_test {

namespace fs = std::filesystem;
using tune::tuning_database;
using tune::detail::require_system_trust;
using tune::testing::captured_errors;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::scoped_environment;
using tune::testing::temporary_folder;

/// A system database, in a folder of its own.
struct installed {
  installed() {
    fs::create_directory(folder);
    tuning_database(path).store(sample_function(), sample_key(), sample_tuning(16), 1);
  }

  bool is_found(const std::string& name) const {
    tune::record_memory::shared().forget_all();
    const tune::tuning_layers layers(
        nullptr, {std::make_shared<tuning_database>(name, tune::database_waits{},
                                                    tune::database_access::immutable)});
    const bool found = layers.find(sample_function(), sample_key()).has_value();
    CHECK(layers.find_nearest(sample_function(), sample_key()).empty() != found);
    return found;
  }
  bool is_found() const { return is_found(path); }

  scoped_environment access{"LIBTUNE_DB_ACCESS", nullptr};
  temporary_folder outside;
  std::string folder = outside.file("system");
  std::string path = folder + "/tuning.db";
};

TEST_CASE("a system database that everybody may write is refused with one warning") {
  const installed system;
  SUBCASE("the file") { fs::permissions(system.path, fs::perms(0646)); }
  SUBCASE("its folder") { fs::permissions(system.folder, fs::perms(0777)); }
  captured_errors errors;
  CHECK_FALSE(system.is_found());
  CHECK_FALSE(system.is_found());
  CHECK(errors.count("may be written by everybody") == 1);
  CHECK(errors.count("LIBTUNE_SYSTEM_DB") == 1);
  const scoped_environment shared{"LIBTUNE_DB_ACCESS", "shared"};
  CHECK_FALSE(system.is_found());
}

TEST_CASE("a group may write a system database, and it may lie in a folder such as /tmp") {
  const installed system;
  fs::permissions(system.path, fs::perms(0664));
  fs::permissions(system.folder, fs::perms(01777));
  CHECK(system.is_found());
}

TEST_CASE("a system database of another user is refused, unless databases are shared") {
  if (::geteuid() != 0) return;  // only the superuser can give files away
  const installed system;
  SUBCASE("the file") { REQUIRE(::chown(system.path.c_str(), 65534, 65534) == 0); }
  SUBCASE("its folder") { REQUIRE(::chown(system.folder.c_str(), 65534, 65534) == 0); }
  CHECK_THROWS_WITH_AS(require_system_trust(system.path), doctest::Contains("another user"),
                       tune::database_error);
  captured_errors errors;
  CHECK_FALSE(system.is_found());
  CHECK(errors.count("belongs to another user") == 1);
  const scoped_environment shared{"LIBTUNE_DB_ACCESS", "shared"};
  CHECK(system.is_found());
}

TEST_CASE("a link to a system database is as good as its own folder and what it leads to") {
  const installed system;
  const std::string link = system.outside.file("link.db");
  fs::create_symlink(system.path, link);
  CHECK(system.is_found(link));
  const fs::path open = system.outside.file("open");
  fs::create_directory(open);
  fs::create_symlink(system.path, open / "link.db");
  fs::permissions(open, fs::perms(0777));
  CHECK_FALSE(system.is_found((open / "link.db").string()));
  fs::permissions(system.path, fs::perms(0646));
  CHECK_FALSE(system.is_found(link));
}

TEST_CASE("what is not there is no matter of trust") {
  const temporary_folder folder;
  CHECK_NOTHROW(require_system_trust(folder.file("none.db")));
}

}  // namespace system_trust_test
