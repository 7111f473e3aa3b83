// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fstream>
#include <memory>
#include <system_error>

#include "libtune/testing/fixtures.hpp"

namespace temporary_directory_test {

using tune::testing::temporary_directory;

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

}  // namespace temporary_directory_test
