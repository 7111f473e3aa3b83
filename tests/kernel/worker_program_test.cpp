// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/worker_program.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace worker_program_test {

namespace fs = std::filesystem;
using namespace tune::detail;
using tune::testing::scoped_environment;

void make_file(const fs::path& path, bool runs) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "#!/bin/sh\n";
  if (runs) fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add);
}

std::string find_worker_program_near(const std::string& object) {
  return find_helper_near("libtune-worker", object).path;
}

/// A folder with a program in bin, and a library in lib/machine.
struct installation {
  tune::testing::temporary_directory folder;
  std::string program = (folder / "bin/program").string();
  std::string library = (folder / "lib/machine/libtune.so").string();

  installation() {
    make_file(program, true);
    make_file(library, false);
  }
  std::string path(const std::string& name) const { return fs::canonical(folder / name).string(); }
};

TEST_CASE("the worker of the build tree is found from the tests") {
  const std::string found = find_worker_program();
  CHECK(fs::path(found).filename() == "libtune-worker");
  CHECK(found.ends_with("libtune/helpers/libtune-worker"));
}

TEST_CASE("LIBTUNE_WORKER is taken as it stands") {
  const tune::testing::scoped_environment given("LIBTUNE_WORKER", "/no/such/worker");
  CHECK(find_worker_program() == "/no/such/worker");
}

TEST_CASE("the worker is found where it is installed, from program and library") {
  const installation place;
  CHECK(find_worker_program_near(place.program).empty());
  make_file(place.folder / "libexec/libtune/libtune-worker", true);
  CHECK(find_worker_program_near(place.program) == place.path("libexec/libtune/libtune-worker"));
  CHECK(find_worker_program_near(place.library) == place.path("libexec/libtune/libtune-worker"));
  make_file(place.folder / "bin/libtune-worker", true);
  CHECK(find_worker_program_near(place.program) == place.path("bin/libtune-worker"));
}

TEST_CASE("what cannot be run is not the worker") {
  const installation place;
  make_file(place.folder / "bin/libtune-worker", false);
  CHECK(find_worker_program_near(place.program).empty());
  CHECK(find_worker_program_near("").empty());
  CHECK(find_worker_program_near("/no/such/program").empty());
}

TEST_CASE("only a build tree has a worker anywhere above") {
  const installation place;
  make_file(place.folder / "libtune/helpers/libtune-worker", true);
  CHECK(find_worker_program_near(place.program).empty());
  make_file(place.folder / "CMakeCache.txt", false);
  CHECK(find_worker_program_near(place.program) == place.path("libtune/helpers/libtune-worker"));
}

TEST_CASE("a helper is found in the folder that was named when the program was built") {
  const tune::testing::temporary_directory folder;
  make_file(folder / "sample-helper", true);
  CHECK(find_helper("sample-helper").path.empty());
  const std::string named = folder.path().string();
  {
    const helper_folder known(named.c_str());
    CHECK(find_helper("sample-helper").path == (folder / "sample-helper").string());
    const helper_folder later("/no/such/folder");
    CHECK(find_helper("sample-helper").path == (folder / "sample-helper").string());
  }
  CHECK(find_helper("sample-helper").path.empty());
}

TEST_CASE("a helper is found beside the programs that are called by name") {
  const tune::testing::temporary_directory folder;
  make_file(folder / "prefix/libexec/libtune/sample-helper", true);
  const std::string list = "relative/bin::/no/such/bin:" + (folder / "prefix/bin/").string();
  const scoped_environment path("PATH", list.c_str());
  CHECK(find_helper("sample-helper").path ==
        (folder / "prefix/libexec/libtune/sample-helper").string());
}

TEST_CASE("where a helper is missing the places are listed, and what is wrong with them") {
  const tune::testing::temporary_directory folder;
  make_file(folder / "sample-helper", false);
  const std::string named = folder.path().string();
  const helper_folder known(named.c_str());
  const auto search = find_helper("sample-helper");
  CHECK(search.path.empty());
  const std::string text = describe_missing("sample-helper", search);
  INFO(text);
  CHECK(text.starts_with("the helper program sample-helper was not found (looked at: /"));
  CHECK(text.find((folder / "sample-helper").string() + " (cannot be run)") != std::string::npos);
  CHECK(text.find("libexec/libtune/sample-helper") != std::string::npos);
  CHECK(text.ends_with("relative to the folders of PATH)"));
}

}  // namespace worker_program_test
