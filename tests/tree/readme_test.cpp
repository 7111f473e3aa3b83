// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What README.md shows has to be what the tree holds: its code is compiled elsewhere, and compared
// here.
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>

#include "libtune/base/environment.hpp"

namespace {

std::string read(const std::string& path) {
  const auto full = std::filesystem::path(LIBTUNE_SOURCE_DIR) / path;
  std::ifstream file(full);
  REQUIRE_MESSAGE(file, full.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The lines between two lines that hold "// [name]".
std::string region(const std::string& text, const std::string& name) {
  const std::string marker = "// [" + name + "]\n";
  const std::size_t begin = text.find(marker);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = text.find(marker, begin + 1);
  REQUIRE(end != std::string::npos);
  return text.substr(begin + marker.size(), end - begin - marker.size());
}

bool shows(const std::string& readme, const std::string& code) {
  return readme.find("```cpp\n" + code + "```\n") != std::string::npos;
}

}  // namespace

TEST_CASE("the README's operation is the compiled one, in at most 40 lines") {
  const std::string code = region(read("examples/multiply/multiply.hpp"), "operation");
  CHECK(shows(read("README.md"), code));
  int lines = 0;
  for (std::size_t at = 0; at < code.size(); at = code.find('\n', at) + 1) {
    lines += code[at] != '\n' ? 1 : 0;
  }
  CHECK(lines <= 40);
}

TEST_CASE("the README's test is one that runs") {
  CHECK(shows(read("README.md"), region(read("tests/examples/multiply_test.cpp"), "testing")));
}

TEST_CASE("the README's table of environment variables is the program's") {
  const std::string readme = read("README.md");
  std::string table;
  for (const auto& variable : tune::environment_variables()) {
    table += fmt::format("| `{}` | {} | {} | {} |\n", variable.name, variable.form,
                         variable.default_text, variable.meaning);
  }
  CAPTURE(table);
  CHECK(readme.find("| --- | --- | --- | --- |\n" + table + "\n") != std::string::npos);
}
