// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/expected_program.hpp"

#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compile_watch.hpp"

namespace expected_program_test {

using tune::defines;
using tune::expect_program;
using tune::meet_expected_program;
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

/// Expects the program of a text for wgs=32, rows=64, and counts what comes of it.
struct expectation {
  explicit expectation(std::vector<std::string> texts, bool forget = true) {
    // What other tests wait for on this thread is none of this one's.
    if (forget) {
      for (int i = 0; i < 16; ++i) {
        expect_program({.configuration = {{"nothing", true}},
                        .digests = [] { return std::vector<std::string>(); }});
      }
    }
    std::vector<std::string> digests;
    for (const std::string& text : texts) {
      digests.push_back(text == "?" ? tune::compile_watch::unknown_program
                                    : *program_digest(source(text)));
    }
    expect_program({.configuration = {{"wgs", std::int64_t{32}}},
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

TEST_CASE("the first program of an expected configuration is compared, and later ones are not") {
  expectation same({"first", "second"});
  meet_expected_program(macros(32), source("second"));
  meet_expected_program(macros(32), source("third"));
  CHECK(same.asked == 1);
  CHECK(same.differing == 0);
  expectation other({"first", "second"});
  meet_expected_program(macros(32), source("third"));
  meet_expected_program(macros(32), source("third"));
  CHECK(other.asked == 1);
  CHECK(other.differing == 1);
}

TEST_CASE("a program of another configuration, key or thread is not meant") {
  expectation one({"text"});
  meet_expected_program(macros(64), source("other"));
  meet_expected_program(macros(32, 65), source("other"));
  meet_expected_program(defines(), source("other"));
  std::thread([] { meet_expected_program(macros(32), source("other")); }).join();
  CHECK(one.asked == 0);
  meet_expected_program(macros(32), source("other"));
  CHECK(one.differing == 1);
}

TEST_CASE("where nothing is known, nothing is said") {
  expectation none({});
  meet_expected_program(macros(32), source("text"));
  CHECK(none.asked == 1);
  CHECK(none.differing == 0);
  expectation with_files({"?", "text"});
  meet_expected_program(macros(32), source("other"));
  CHECK(with_files.differing == 0);
  expectation includes({"text"});
  meet_expected_program(macros(32), source("#include \"file\"\n"));
  CHECK(includes.asked == 0);
  CHECK(includes.differing == 0);
}

TEST_CASE("of two that a program may be of, neither is blamed") {
  expectation a({"a"});
  expectation b({"b"}, false);
  meet_expected_program(macros(32), source("c"));
  CHECK(a.differing + b.differing == 0);
}

TEST_CASE("only the latest are waited for") {
  expectation one({"text"});
  for (int i = 0; i < 16; ++i) {
    expect_program({.configuration = {{"another", std::int64_t{i}}},
                    .digests = [] { return std::vector<std::string>(); }});
  }
  meet_expected_program(macros(32), source("other"));
  CHECK(one.asked == 0);
}

}  // namespace expected_program_test
