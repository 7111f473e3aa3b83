// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace headers_test {

namespace fs = std::filesystem;

const fs::path source_dir = LIBTUNE_SOURCE_DIR;

std::vector<fs::path> files_with(const std::string& extension,
                                 const std::vector<std::string>& folders) {
  std::vector<fs::path> found;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(source_dir / folder)) {
      if (entry.path().extension() == extension) found.push_back(entry.path());
    }
  }
  return found;
}

std::vector<fs::path> headers() { return files_with(".hpp", {"libtune", "operations"}); }

bool has_text(const fs::path& file, const std::string& wanted) {
  std::ifstream text(file);
  const std::string all(std::istreambuf_iterator<char>(text), {});
  return all.find(wanted) != std::string::npos;
}

/// The first line that begins so; empty if there is none.
std::string first_line(const fs::path& file, const std::string& beginning) {
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(beginning)) return line;
  }
  return {};
}

std::vector<fs::path> public_headers() {
  std::vector<fs::path> found;
  std::ifstream list(LIBTUNE_PUBLIC_HEADERS);
  for (std::string line; std::getline(list, line);) {
    if (!line.empty()) found.push_back(source_dir / "libtune" / line);
  }
  for (const fs::path& header : headers()) {
    // In the folder of an operation, not deeper.
    for (const char* group : {"operations", "operations/telescope"}) {
      const fs::path place = header.lexically_relative(source_dir / group);
      if (std::distance(place.begin(), place.end()) == 2 && *place.begin() != "..") {
        found.push_back(header);
      }
    }
  }
  return found;
}

bool reaches(const fs::path& header, const fs::path& wanted, std::set<fs::path>& seen) {
  if (header == wanted) return true;
  if (!seen.insert(header).second) return false;
  const std::regex include("#include \"([^\"]+)\"");
  std::ifstream text(header);
  std::smatch match;
  for (std::string line; std::getline(text, line);) {
    if (std::regex_search(line, match, include) &&
        reaches(source_dir / match[1].str(), wanted, seen)) {
      return true;
    }
  }
  return false;
}

TEST_CASE("a header may be included twice") {
  const auto all = headers();
  REQUIRE(all.size() > 100);
  for (const fs::path& header : all) {
    CHECK_MESSAGE(first_line(header, "#pragma once") == "#pragma once", header.string());
  }
}

TEST_CASE("a source includes its own header first, and so shows that it is complete in itself") {
  for (const fs::path& header : headers()) {
    fs::path source = header;
    source.replace_extension(".cpp");
    if (!fs::exists(source)) continue;
    const std::string own = "#include \"" + header.lexically_relative(source_dir).string() + '"';
    CHECK_MESSAGE(first_line(source, "#include") == own, source.string());
  }
}

TEST_CASE("a source that joins texts includes the header that has fmt::join since fmt 11") {
  int joining = 0;
  for (const fs::path& source :
       files_with(".cpp", {"libtune", "operations", "bench", "examples"})) {
    if (!has_text(source, "fmt::join")) continue;
    ++joining;
    CHECK_MESSAGE(has_text(source, "#include <fmt/ranges.h>"), source.string());
  }
  CHECK(joining > 10);
}

TEST_CASE("every public header asks for C++20 before it needs it") {
  const fs::path asks = source_dir / "libtune/base/cxx20.hpp";
  const auto all = public_headers();
  REQUIRE(all.size() > 50);
  for (const fs::path& header : all) {
    std::set<fs::path> seen;
    CHECK_MESSAGE(reaches(header, asks, seen), header.string());
  }
}

TEST_CASE("a public header includes public headers only") {
  const auto all = public_headers();
  const std::set<fs::path> known(all.begin(), all.end());
  const std::regex include("#include \"(libtune/[^\"]+\\.hpp)\"");
  for (const fs::path& header : all) {
    std::ifstream text(header);
    std::smatch match;
    for (std::string line; std::getline(text, line);) {
      if (!std::regex_search(line, match, include)) continue;
      CHECK_MESSAGE(known.contains(source_dir / match[1].str()), header.string(), " includes ",
                    match[1].str(), ", which is private (cmake/libtune_headers.cmake)");
    }
  }
}

}  // namespace headers_test
