// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/tree/layering.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace layering_test {

namespace fs = std::filesystem;

const fs::path source_dir = LIBTUNE_SOURCE_DIR;

layering::rules project_rules() {
  std::ifstream markdown(source_dir / "libtune/README.md");
  REQUIRE(markdown);
  return layering::read_rules(markdown);
}

std::set<std::string> project_public_headers() {
  std::ifstream list(LIBTUNE_PUBLIC_HEADERS);
  REQUIRE(list);
  std::set<std::string> headers;
  for (std::string line; std::getline(list, line);) headers.insert(line);
  return headers;
}

layering::rules small_rules() {
  std::istringstream markdown(R"(
| module | what it knows | may include |
| --- | --- | --- |
| `base` | errors | |
| `device` | buffers | `base` |
| `store` | the database | `device/identity.hpp` `base` |

| third-party include | in | also in public headers |
| --- | --- | --- |
| `boost/` | `base/fields.hpp` | yes |
| `sqlite3.h` | `store` | no |
| `fmt/` | `any` | no |
)");
  return layering::read_rules(markdown);
}

bool allowed(const std::string& file, const std::string& included) {
  return !violation(small_rules(), {.file = file, .included = included});
}

bool library_allowed(const std::string& file, const std::string& included, bool in_public_header) {
  return !violation(
      small_rules(),
      {.file = file, .included = included, .quoted = false, .in_public_header = in_public_header});
}

class temporary_folder {
 public:
  temporary_folder()
      : path_(fs::temp_directory_path() / ("libtune_layering_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~temporary_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST_CASE("the sources include only what the tables of libtune/README.md allow") {
  const auto rules = project_rules();
  REQUIRE(rules.modules.size() > 10);
  REQUIRE(rules.libraries.size() > 3);
  for (const std::string& wrong :
       violations_below(source_dir / "libtune", rules, project_public_headers())) {
    FAIL_CHECK(wrong);
  }
}

TEST_CASE("no module of the core may include a neighbour") {
  const auto rules = project_rules();
  std::set<std::string> core;
  for (const layering::module_rule& row : rules.modules) {
    if (row.is_core) core.insert(row.module);
  }
  CHECK(core.size() > 9);
  CHECK(rules.modules.size() > core.size() + 9);
  for (const layering::module_rule& row : rules.modules) {
    if (!row.is_core) continue;
    for (const std::string& included : row.may_include) {
      CAPTURE(row.module);
      CAPTURE(included);
      CHECK(core.contains(included.substr(0, included.find('/'))));
    }
  }
}

TEST_CASE("the list of public headers is that of the tree") {
  const auto headers = project_public_headers();
  CHECK(headers.contains("base/error.hpp"));
  for (const std::string& header : headers) CHECK(fs::exists(source_dir / "libtune" / header));
}

/// False for what a folder leaves behind after its files have moved, such as caches of Python.
bool has_source(const fs::path& folder) {
  const auto all = fs::recursive_directory_iterator(folder);
  return std::any_of(begin(all), end(all), [](const fs::directory_entry& entry) {
    const fs::path extension = entry.path().extension();
    return extension == ".hpp" || extension == ".cpp" || extension == ".h";
  });
}

TEST_CASE("the table lists every module, below all that it includes") {
  std::set<std::string> above;
  for (const layering::module_rule& row : project_rules().modules) {
    for (const std::string& included : row.may_include) {
      CAPTURE(row.module);
      CAPTURE(included);
      if (included.starts_with("../")) continue;  // beside libtune, above all of it
      CHECK(above.contains(
          included.substr(0, included.find('/', included.starts_with("extra/") ? 6 : 0))));
    }
    above.insert(row.module);
    above.insert(row.module.substr(0, row.module.find('/')));  // a folder of modules
  }
  for (const char* folder : {"libtune", "libtune/extra", "libtune/bindings"}) {
    for (const auto& entry : fs::directory_iterator(source_dir / folder)) {
      if (!entry.is_directory() || !has_source(entry.path())) continue;
      const fs::path module = fs::relative(entry.path(), source_dir / "libtune");
      CAPTURE(module);
      CHECK(above.contains(module.string()));
    }
  }
}

TEST_CASE("a module may include itself and what its row names, and nothing else") {
  CHECK(allowed("device/buffer.hpp", "libtune/device/command_queue.hpp"));
  CHECK(allowed("device/buffer.hpp", "libtune/base/error.hpp"));
  CHECK_FALSE(allowed("base/error.hpp", "libtune/device/buffer.hpp"));
  CHECK_FALSE(allowed("unlisted/room.hpp", "libtune/base/error.hpp"));
}

TEST_CASE("a row that names one file opens only that file") {
  CHECK(allowed("store/database.hpp", "libtune/device/identity.hpp"));
  CHECK_FALSE(allowed("store/database.hpp", "libtune/device/buffer.hpp"));
}

TEST_CASE("a row may name a folder beside libtune") {
  std::istringstream markdown(
      "| module | what it knows | may include |\n| --- | --- | --- |\n| `base` | errors | |\n"
      "| `edge` | all | `base` `../operations` |\n");
  const auto rules = layering::read_rules(markdown);
  const auto allows = [&](const std::string& file) {
    return !violation(rules, {.file = file, .included = "operations/fill/fill.hpp"});
  };
  CHECK(allows("edge/all.cpp"));
  CHECK_FALSE(allows("base/error.cpp"));
}

TEST_CASE("a quoted include has its whole path, unless it is an embedded text") {
  CHECK_FALSE(allowed("device/buffer.hpp", "event.hpp"));
  CHECK_FALSE(allowed("device/buffer.hpp", "../base/error.hpp"));
  CHECK(allowed("device/buffer.cpp", "fill.kernel.hpp"));
}

TEST_CASE("a library is included only where its row says") {
  CHECK(library_allowed("store/database.cpp", "sqlite3.h", false));
  CHECK_FALSE(library_allowed("base/error.cpp", "sqlite3.h", false));
  CHECK(library_allowed("base/fields.hpp", "boost/hana/tuple.hpp", true));
  CHECK_FALSE(library_allowed("base/value.hpp", "boost/hana/tuple.hpp", true));
  CHECK_FALSE(library_allowed("base/error.cpp", "unheard/of.hpp", false));
  CHECK(library_allowed("base/error.hpp", "string", true));
  CHECK(library_allowed("base/error.cpp", "sys/stat.h", false));
}

TEST_CASE("a public header includes no library unless its row says so") {
  CHECK(library_allowed("base/error.cpp", "fmt/format.h", false));
  CHECK_FALSE(library_allowed("base/error.hpp", "fmt/format.h", true));
}

TEST_CASE("a bad tree is told by file, line and include") {
  const temporary_folder tree;
  tree.write("base/good.cpp", "#include \"libtune/base/good.hpp\"\n#include <fmt/format.h>\n");
  tree.write("base/bad.hpp", "// text\n  #  include \"libtune/device/buffer.hpp\"  // why\n");
  tree.write("store/bad.hpp", "#include <sqlite3.h>\n");
  const auto found =
      violations_below(tree.path(), small_rules(), {"base/bad.hpp", "store/bad.hpp"});
  REQUIRE(found.size() == 2);
  CHECK(found[0].starts_with("libtune/base/bad.hpp:2: libtune/device/buffer.hpp: "));
  CHECK(found[1].starts_with("libtune/store/bad.hpp:1: sqlite3.h: "));
}

TEST_CASE("a neighbour is a module of its own, which the core does not see") {
  std::istringstream markdown(R"(
| module | what it knows | may include |
| --- | --- | --- |
| `base` | errors | |

| neighbour | what it adds | may include |
| --- | --- | --- |
| `extra/far` | distance | `base` |
| `extra/near` | nearness | `extra/far` `base` |
)");
  const auto rules = layering::read_rules(markdown);
  const auto allows = [&](const std::string& file, const std::string& included) {
    return !violation(rules, {.file = file, .included = included});
  };
  CHECK(allows("extra/near/lens.cpp", "libtune/extra/near/lens.hpp"));
  CHECK(allows("extra/near/lens.cpp", "libtune/extra/far/lens.hpp"));
  CHECK(allows("extra/near/lens.cpp", "libtune/extra/far.hpp"));
  CHECK(allows("extra/near/lens.cpp", "libtune/extra/near.hpp"));
  CHECK_FALSE(allows("extra/far/lens.cpp", "libtune/extra/near/lens.hpp"));
  CHECK_FALSE(allows("base/error.cpp", "libtune/extra/far/lens.hpp"));
  CHECK_FALSE(allows("base/error.cpp", "libtune/extra/far.hpp"));  // nor its umbrella header
  CHECK(allows("extra/far.hpp", "libtune/extra/far/lens.hpp"));
}

}  // namespace layering_test
