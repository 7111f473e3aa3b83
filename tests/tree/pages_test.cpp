// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// README.md, the pages in docs/, those of the operations and that of pipeline show code that is
// compiled, and the library's own table of variables. Code is a region of a file in examples/ or
// tests/examples/: the lines between two comments "// [name]", or "# [name]".
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "libtune/base/environment.hpp"

namespace pages_test {

namespace fs = std::filesystem;

const fs::path source_dir = LIBTUNE_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> files_below(const fs::path& folder, const std::set<std::string>& extensions) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (extensions.count(entry.path().extension().string()) != 0) files.push_back(entry.path());
  }
  return files;
}

std::vector<fs::path> pages() {
  auto found = files_below(source_dir / "docs", {".md"});
  found.push_back(source_dir / "README.md");
  for (const fs::path& page : files_below(source_dir / "operations", {".md"})) {
    found.push_back(page);
  }
  found.push_back(source_dir / "libtune/extra/pipeline/README.md");
  return found;
}

/// The regions of a text, each without the indentation of its markers.
std::set<std::string> regions_of(const std::string& text) {
  static const std::regex marker(R"(( *)(//|#) \[\w+\])");
  std::set<std::string> regions;
  std::istringstream lines(text);
  std::string end;
  std::string code;
  for (std::string line; std::getline(lines, line);) {
    std::smatch indentation;
    if (end.empty()) {
      if (std::regex_match(line, indentation, marker)) end = line;
    } else if (line == end) {
      regions.insert(code);
      code.clear();
      end.clear();
    } else {
      code += line.substr(std::min(end.find_first_of("/#"), line.size())) + "\n";
    }
  }
  CHECK_MESSAGE(end.empty(), "the region has no end: " << end);
  return regions;
}

std::set<std::string> compiled_regions() {
  std::set<std::string> regions;
  for (const char* folder : {"examples", "tests/examples"}) {
    for (const fs::path& file : files_below(source_dir / folder, {".cpp", ".hpp", ".py"})) {
      CAPTURE(file);
      regions.merge(regions_of(read(file)));
    }
  }
  return regions;
}

/// The contents of the blocks of a language.
std::vector<std::string> code_blocks(const std::string& page, const std::string& language = "cpp") {
  const std::string begin = "```" + language + "\n";
  std::vector<std::string> blocks;
  for (std::size_t at = 0; (at = page.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    const std::size_t end = page.find("```\n", at);
    REQUIRE(end != std::string::npos);
    blocks.push_back(page.substr(at, end - at));
    at = end + 3;
  }
  return blocks;
}

TEST_CASE("the code that pages show is compiled") {
  const std::set<std::string> compiled = compiled_regions();
  std::size_t blocks = 0;
  for (const fs::path& page : pages()) {
    CAPTURE(page);
    for (const std::string& block : code_blocks(read(page))) {
      CHECK_MESSAGE(compiled.count(block) == 1, "no region of examples/ or tests/examples/ is:\n"
                                                    << block);
      ++blocks;
    }
  }
  CHECK(blocks >= 10);
}

TEST_CASE("the Python code that pages show is run") {
  const std::set<std::string> run = compiled_regions();
  const auto check = [&](const std::string& block) {
    CHECK_MESSAGE(run.count(block) == 1, "no region of examples/ is:\n" << block);
  };
  for (const std::string& block : code_blocks(read(source_dir / "docs/python.md"), "python")) {
    check(block);
  }
  // Of the page for those who come from Kernel Tuner all but the import of Kernel Tuner itself.
  const std::string page = read(source_dir / "docs/from-kernel-tuner.md");
  std::size_t blocks = 0;
  for (const std::string& block : code_blocks(page, "python")) {
    if (block.find("from kernel_tuner import") != std::string::npos) continue;
    check(block);
    ++blocks;
  }
  CHECK(blocks >= 7);
}

TEST_CASE("code for C++ is shown in blocks that are checked") {
  const std::regex other("```(c|c\\+\\+|C\\+\\+|hpp)\n");
  for (const fs::path& page : pages()) {
    CAPTURE(page);
    CHECK_FALSE(std::regex_search(read(page), other));
  }
}

TEST_CASE("a region is found with its indentation removed") {
  CHECK(regions_of("  // [a]\n  int x;\n\n    int y;\n  // [a]\n") ==
        std::set<std::string>{"int x;\n\n  int y;\n"});
}

std::ptrdiff_t lines_of(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

TEST_CASE("the README has at most 180 lines, and its operation at most 50") {
  const std::string readme = read(source_dir / "README.md");
  CHECK(lines_of(readme) <= 180);
  for (const std::string& block : code_blocks(readme)) CHECK(lines_of(block) <= 50);
}

TEST_CASE("the table of environment variables is the program's") {
  const std::string page = read(source_dir / "docs/environment.md");
  std::string table;
  for (const auto& variable : tune::environment_variables()) {
    table += fmt::format("| `{}` | {} | {} | {} |\n", variable.name, variable.form,
                         variable.default_text, variable.meaning);
  }
  CAPTURE(table);
  CHECK(page.find("| --- | --- | --- | --- |\n" + table + "\n") != std::string::npos);
}

}  // namespace pages_test
