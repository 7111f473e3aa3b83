// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path source_dir = LIBTUNE_SOURCE_DIR;

std::vector<fs::path> headers() {
  std::vector<fs::path> found;
  for (const char* folder : {"libtune", "operations"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_dir / folder)) {
      if (entry.path().extension() == ".hpp") found.push_back(entry.path());
    }
  }
  return found;
}

/// The first line that begins so; empty if there is none.
std::string first_line(const fs::path& file, const std::string& beginning) {
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(beginning)) return line;
  }
  return {};
}

}  // namespace

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
