// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/files.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

#include "libtune/base/error.hpp"
#include "tests/store/temporary_folder.hpp"

namespace files_test {

namespace fs = std::filesystem;
using tune::cli::read_file;
using tune::cli::write_file;
using tune::testing::temporary_folder;

TEST_CASE("what was written is read, byte for byte, and takes the place of what was there") {
  const temporary_folder folder;
  const std::string path = folder.file("a.json");
  const std::string content = std::string(200'000, 'x') + std::string("\0\xff\r\n", 4);
  write_file(path, "before");
  write_file(path, content);
  CHECK(read_file(path) == content);
  write_file(path, "");
  CHECK(read_file(path).empty());
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("what cannot be read or written names the file, and leaves what is there") {
  const temporary_folder folder;
  CHECK_THROWS_WITH_AS(read_file(folder.file("none")), doctest::Contains("none"), tune::error);
  CHECK_THROWS_AS(read_file(folder.path().string()), tune::error);
  CHECK_THROWS_WITH_AS(write_file(folder.file("no/folder/a"), "x"), doctest::Contains("no/folder"),
                       tune::error);
  fs::create_directory(folder.file("taken"));
  CHECK_THROWS_AS(write_file(folder.file("taken"), "x"), tune::error);
  CHECK(fs::is_directory(folder.file("taken")));
}

}  // namespace files_test
