// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What README.md and the guide show has to be what the tree holds: their code is compiled
// elsewhere, and compared here.
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "libtune/base/environment.hpp"

namespace readme_test {

std::string read(const std::string& path) {
  const auto full = std::filesystem::path(LIBTUNE_SOURCE_DIR) / path;
  std::ifstream file(full);
  REQUIRE_MESSAGE(file, full.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The lines between two lines that hold "// [name]", without the indentation of these.
std::string region(const std::string& text, const std::string& name) {
  const std::string marker = "// [" + name + "]\n";
  const std::size_t begin = text.find(marker);
  REQUIRE(begin != std::string::npos);
  const std::size_t indentation = begin - (text.rfind('\n', begin) + 1);
  std::istringstream lines(text.substr(begin + marker.size()));
  std::string code;
  for (std::string line; std::getline(lines, line); code += line + "\n") {
    line.erase(0, std::min(indentation, line.size()));
    if (line + "\n" == marker) return code;
  }
  FAIL("the region '" << name << "' has no end");
  return {};
}

bool shows(const std::string& readme, const std::string& code) {
  return readme.find("```cpp\n" + code + "```\n") != std::string::npos;
}

TEST_CASE("the README's operation is the compiled one, in at most 40 lines") {
  const std::string code = region(read("examples/multiply/multiply.hpp"), "operation");
  CHECK(shows(read("README.md"), code));
  int lines = 0;
  for (std::size_t at = 0; at < code.size(); at = code.find('\n', at) + 1) {
    lines += code[at] != '\n' ? 1 : 0;
  }
  CHECK(lines <= 40);
}

TEST_CASE("the guide's code is compiled") {
  const std::string guide = read("operations/README.md");
  const std::string sources = read("examples/guide/guide.hpp");
  for (const char* name : {"kernel", "operation", "fields", "template", "autotune", "sequence"}) {
    CAPTURE(name);
    CHECK(shows(guide, region(sources, name)));
  }
  const std::string test = read("tests/examples/guide_test.cpp");
  CHECK(shows(guide, region(test, "use")));
  CHECK(shows(guide, region(test, "replay")));
  const std::string block = "```cpp\n";
  int blocks = 0;
  for (std::size_t at = guide.find(block); at != std::string::npos;
       at = guide.find(block, at + 1)) {
    ++blocks;
  }
  CHECK(blocks == 8);
}

TEST_CASE("the README's test is one that runs") {
  CHECK(shows(read("README.md"), region(read("tests/examples/multiply_test.cpp"), "testing")));
}

TEST_CASE("the README's sealed pipeline is one that runs") {
  CHECK(shows(read("README.md"), region(read("tests/examples/sealing_test.cpp"), "sealing")));
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

}  // namespace readme_test
