// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fixtures.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include "libtune/testing/temporary_directory.hpp"

namespace fixtures_test {

using tune::detail::current_test_mode;
using tune::testing::scoped_environment;
using tune::testing::temporary_directory;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "(unset)";
}

TEST_CASE("a variable has its value in the scope and its old one afterwards") {
  CHECK(text_of("LIBTUNE_TESTING_X") == "(unset)");
  {
    const scoped_environment outer("LIBTUNE_TESTING_X", "outer");
    CHECK(text_of("LIBTUNE_TESTING_X") == "outer");
    {
      const scoped_environment inner("LIBTUNE_TESTING_X", nullptr);
      CHECK(text_of("LIBTUNE_TESTING_X") == "(unset)");
    }
    CHECK(text_of("LIBTUNE_TESTING_X") == "outer");
  }
  CHECK(text_of("LIBTUNE_TESTING_X") == "(unset)");
}

TEST_CASE("a temporary directory is empty, and gone at the end with all that is in it") {
  std::filesystem::path path;
  {
    const temporary_directory folder;
    path = folder.path();
    CHECK(std::filesystem::is_directory(path));
    CHECK(std::filesystem::is_empty(path));
    std::filesystem::create_directory(folder / "inner");
    std::ofstream(folder / "inner/file") << "text";
    CHECK(std::filesystem::exists(path / "inner" / "file"));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("each temporary directory is another") {
  const temporary_directory first;
  const temporary_directory second;
  CHECK(first.path() != second.path());
}

TEST_CASE("where no folder can be made, making one throws") {
  const temporary_directory folder;
  std::ofstream(folder / "file") << "text";
  const tune::testing::scoped_environment setting("TMPDIR", (folder / "file").c_str());
  CHECK_THROWS_AS(std::make_unique<temporary_directory>(), std::system_error);
}

TEST_CASE("a guard sets the mode and puts back what was set before") {
  CHECK(current_test_mode() == test_mode::defaults);
  {
    const test_mode_guard off(test_mode::off);
    CHECK(current_test_mode() == test_mode::off);
    {
      const test_mode_guard forced(test_mode::forced);
      CHECK(current_test_mode() == test_mode::forced);
    }
    CHECK(current_test_mode() == test_mode::off);
  }
  CHECK(current_test_mode() == test_mode::defaults);
}

TEST_CASE("an exception puts the mode back") {
  const auto fail = [] {
    const test_mode_guard off(test_mode::off);
    throw std::runtime_error("x");
  };
  CHECK_THROWS_AS(fail(), std::runtime_error);
  CHECK(current_test_mode() == test_mode::defaults);
}

TEST_CASE("the fixture gives defaults to a program that has none") {
  const test_mode_guard no_test_main(test_mode::off);
  {
    const tune::testing::autotune_defaults fixture;
    CHECK(current_test_mode() == test_mode::defaults);
  }
  CHECK(current_test_mode() == test_mode::off);
}

}  // namespace fixtures_test
