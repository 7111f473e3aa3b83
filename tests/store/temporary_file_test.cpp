// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/private_folder.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/store/file_size_limit.hpp"
#include "tests/store/temporary_folder.hpp"

namespace temporary_file_test {

namespace fs = std::filesystem;
using tune::detail::private_folder;
using tune::detail::temporary_file;
using tune::testing::temporary_folder;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a file is under its name when it is published, and all of it") {
  const temporary_folder place;
  const auto folder = private_folder::open(place.path().string());
  std::ofstream(place.file("name")) << "before";
  {
    temporary_file file(*folder);
    file.write(bytes_of("one "));
    file.write(bytes_of("two"));
    file.synchronise();
    CHECK(content_of(place.file("name")) == "before");
    file.publish("name");
  }
  CHECK(content_of(place.file("name")) == "one two");
  CHECK(std::distance(fs::directory_iterator(place.path()), {}) == 1);
}

TEST_CASE("a file that is not published leaves nothing behind") {
  const temporary_folder place;
  const auto folder = private_folder::open(place.path().string());
  {
    temporary_file first(*folder);
    temporary_file second(*folder);
    first.write(bytes_of("text"));
    CHECK(std::distance(fs::directory_iterator(place.path()), {}) == 2);
    for (const auto& entry : fs::directory_iterator(place.path())) {
      CHECK(tune::detail::is_temporary_name(entry.path().filename().string()));
    }
    fs::create_directory(place.file("folder"));
    CHECK_THROWS_AS(second.publish("folder"), std::system_error);
    fs::remove(place.file("folder"));
  }
  CHECK(fs::is_empty(place.path()));
}

TEST_CASE("a limit on the size of files is an error and ends nothing") {
  const temporary_folder place;
  const auto folder = private_folder::open(place.path().string());
  {
    temporary_file file(*folder);
    const tune::testing::file_size_limit limit(100);
    CHECK_NOTHROW(file.write(bytes_of(std::string(60, 'x'))));
    CHECK_THROWS_AS(file.write(bytes_of(std::string(60, 'x'))), std::system_error);
    CHECK_THROWS_AS(file.write(bytes_of("x")), std::system_error);
  }
  CHECK(fs::is_empty(place.path()));
}

TEST_CASE("only names that temporary files are given pass for one") {
  const std::string digits(32, 'a');
  CHECK(tune::detail::is_temporary_name(digits + ".tmp"));
  const std::vector<std::string> others{digits,  digits + ".tmp2", digits + "a.tmp",
                                        "a.tmp", ".tmp",           std::string(32, 'g') + ".tmp"};
  for (const std::string& other : others) {
    CHECK_FALSE(tune::detail::is_temporary_name(other));
  }
}

}  // namespace temporary_file_test
