// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "libtune/device/inclusion.hpp"
#include "libtune/kernel/cache/included_memory.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace expected_program_test {

using tune::compare_with_expected;
using tune::defines;
using tune::expect_program;
using tune::program_source;

program_source source(const std::string& text) {
  return {.name = "a.kernel", .text = text, .options = {}};
}

defines macros(int wgs, int rows = 64) {
  defines made;
  made.add("wgs", wgs);
  made.add("rows", rows);
  return made;
}

struct bench {
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();

  void compile(const defines& macros, const program_source& source) const {
    compare_with_expected(context, macros, source);
  }
};

/// Expects one of some programs for wgs=32, rows=64, and counts what comes of it.
struct expectation {
  expectation(const bench& b, std::vector<std::string> digests) {
    expect_program(b.context,
                   {.configuration = {{"wgs", std::int64_t{32}}},
                    .key = {{"rows", std::int64_t{64}}, {"type", std::string("float32")}},
                    .digests =
                        [this, digests] {
                          ++asked;
                          return digests;
                        },
                    .differs = [this] { ++differing; }});
  }

  int asked = 0;
  int differing = 0;
};

std::string digest(const std::string& text) { return program_digest(source(text)); }

TEST_CASE("the first program of an expected configuration is compared, and later ones are not") {
  const bench b;
  const expectation same(b, {digest("first"), digest("second")});
  b.compile(macros(32), source("second"));
  b.compile(macros(32), source("third"));
  CHECK(same.asked == 1);
  CHECK(same.differing == 0);
  const expectation other(b, {digest("first"), digest("second")});
  b.compile(macros(32), source("third"));
  b.compile(macros(32), source("third"));
  CHECK(other.asked == 1);
  CHECK(other.differing == 1);
}

TEST_CASE("a program of another configuration, key, thread or context is not meant") {
  const bench b;
  const bench another;
  const expectation one(b, {digest("text")});
  b.compile(macros(64), source("other"));
  b.compile(macros(32, 65), source("other"));
  b.compile(defines(), source("other"));
  another.compile(macros(32), source("other"));
  std::thread([&] { b.compile(macros(32), source("other")); }).join();
  CHECK(one.asked == 0);
  b.compile(macros(32), source("other"));
  CHECK(one.differing == 1);
}

TEST_CASE("where nothing is known, nothing is said") {
  const bench b;
  const expectation none(b, {});
  b.compile(macros(32), source("text"));
  CHECK(none.asked == 1);
  CHECK(none.differing == 0);
  const expectation with_files(b, {"?", digest("text")});
  b.compile(macros(32), source("other"));
  CHECK(with_files.differing == 0);
  const expectation includes(b, {digest("text")});
  b.compile(macros(32), source("#include FILE\n"));
  CHECK(includes.asked == 0);
  CHECK(includes.differing == 0);
}

TEST_CASE("a program differs if a file that it includes has changed") {
  const tune::testing::temporary_directory folder;
  const auto write = [&](const std::string& text) { std::ofstream(folder / "x.h") << text; };
  const program_source including{
      .name = "a.kernel", .text = "#include \"x.h\"\n", .options = {"-I" + folder.path().string()}};
  write("int x;");
  const bench b;
  CHECK(watched_digest(b.context, including) == "?");
  remember_included(
      b.context, including,
      tune::read_included({(folder / "x.h").string()}, std::filesystem::file_time_type::max()));
  const std::string measured = watched_digest(b.context, including);
  CHECK(measured.size() == 33);
  const expectation same(b, {measured});
  b.compile(macros(32), including);
  CHECK(same.differing == 0);
  const expectation other(b, {measured});
  write("int y;");
  b.compile(macros(32), including);
  CHECK(other.differing == 1);
}

TEST_CASE("of two that a program may be of, neither is blamed") {
  const bench b;
  const expectation first(b, {digest("a")});
  const expectation second(b, {digest("b")});
  b.compile(macros(32), source("c"));
  CHECK(first.differing + second.differing == 0);
}

TEST_CASE("only the latest are waited for") {
  const bench b;
  const expectation one(b, {digest("text")});
  for (int i = 0; i < 64; ++i) {
    expect_program(b.context, {.configuration = {{"another", std::int64_t{i}}},
                               .digests = [] { return std::vector<std::string>(); }});
  }
  b.compile(macros(32), source("other"));
  CHECK(one.asked == 0);
}

}  // namespace expected_program_test
