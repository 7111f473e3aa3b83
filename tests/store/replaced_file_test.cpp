// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/store/files/file_system.hpp"
#include "tests/store/temporary_folder.hpp"

namespace replaced_file_test {

namespace fs = std::filesystem;
using tune::replace_file;
using tune::replace_file_by;
using tune::testing::content_of;
using tune::testing::temporary_folder;

auto files_in(const temporary_folder& folder) {
  return std::distance(fs::directory_iterator(folder.path()), {});
}

TEST_CASE("a file is made, or replaced with all of its content, for its owner alone") {
  const temporary_folder folder;
  const std::string path = folder.file("a.json");
  for (const std::string& content :
       {std::string("old"), std::string(1 << 20, 'x'), std::string("a\0b", 3), std::string()}) {
    replace_file(path, content);
    CHECK(content_of(path) == content);
    CHECK(files_in(folder) == 1);
  }
  CHECK(fs::status(path).permissions() == fs::perms(0600));
}

TEST_CASE("who has the old file open still sees all of it") {
  const temporary_folder folder;
  replace_file(folder.file("a"), "old");
  std::ifstream reader(folder.file("a"));
  replace_file(folder.file("a"), "the new one");
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "old");
}

TEST_CASE("a step that fails leaves the old file and nothing else") {
  const temporary_folder folder;
  replace_file(folder.file("a"), "old");
  CHECK_THROWS_AS(replace_file_by(folder.file("a"),
                                  [](const std::string& name) {
                                    std::ofstream(name) << "half";
                                    throw std::runtime_error("it failed");
                                  }),
                  std::runtime_error);
  CHECK(content_of(folder.file("a")) == "old");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a place that cannot be written is an error that names the file and the reason") {
  const temporary_folder folder;
  CHECK_THROWS_WITH_AS(replace_file(folder.file("none/a"), "text"),
                       doctest::Contains("none/a' could not be written"), tune::error);
  fs::create_directory(folder.path() / "b");
  CHECK_THROWS_WITH_AS(replace_file(folder.file("b"), "text"), doctest::Contains("renaming"),
                       tune::error);
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a symbolic link is replaced, not what it leads to") {
  const temporary_folder folder;
  replace_file(folder.file("target"), "old");
  fs::create_symlink("target", folder.path() / "link");
  replace_file(folder.file("link"), "new");
  CHECK(content_of(folder.file("target")) == "old");
  CHECK(content_of(folder.file("link")) == "new");
  CHECK_FALSE(fs::is_symlink(folder.file("link")));
}

}  // namespace replaced_file_test
