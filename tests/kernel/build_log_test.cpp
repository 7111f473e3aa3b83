// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/build_log.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace build_log_test {

using lines = std::vector<std::size_t>;

/// A source that includes nothing.
tune::resolved_source plain(const std::string& text) {
  return {.text = tune::line_directive(1, "k") + text, .files = {{"k", text}}, .runs = {{2, 0}}};
}

TEST_CASE("lines are found in the manner of clang and of NVRTC") {
  CHECK(tune::lines_in_log("a.kernel", "a.kernel:12:3: error: no") == lines{12});
  CHECK(tune::lines_in_log("a.kernel", "a.kernel(7): error: no\n1 error") == lines{7});
}

TEST_CASE("each line is named once, in ascending order") {
  CHECK(tune::lines_in_log("k", "k:9:1: error\nk:2:1: note\nk:9:4: error") == lines{2, 9});
}

TEST_CASE("a log without the source's name, or without numbers, names no line") {
  CHECK(tune::lines_in_log("a.kernel", "b.kernel:1: error").empty());
  CHECK(tune::lines_in_log("a.kernel", "a.kernel: cannot be read, a.kernel:x, a.kernel").empty());
  CHECK(tune::lines_in_log("", "a:1").empty());
}

TEST_CASE("a file of a longer name is another file") {
  CHECK(tune::lines_in_log("k", "libtune/k:3: error, my_k:4:, a.k:5:, ak:6:, -k:8:").empty());
  CHECK(tune::lines_in_log("k", "'k:3: error\nk:4: error\n\"k(5) k:6") == lines{3, 4, 5, 6});
}

TEST_CASE("the source lines are quoted with their numbers") {
  const tune::resolved_source source = plain("one\ntwo\nthree");
  CHECK(tune::quote_source_lines(source, "k:3:1: bad, k:1:1: worse") ==
        "\n  k:1: one\n  k:3: three");
  CHECK(tune::quote_source_lines(source, "all is well").empty());
  CHECK(tune::quote_source_lines(source, "k:99: beyond the end") == "\n  k:99: ");
}

TEST_CASE("a compiler that ignores #line counts from the first line that it was given") {
  const tune::resolved_source source = plain("one\ntwo\nthree");
  CHECK(tune::quote_source_lines(source, "<kernel>:43:3: error: no", 40) == "\n  k:2: two");
  CHECK(tune::quote_source_lines(source, "<kernel>:7:3: error in the preamble", 40).empty());
}

TEST_CASE("a long list of lines is cut") {
  std::string text;
  std::string log;
  for (int i = 1; i <= 12; ++i) {
    text += "x\n";
    log += "k:" + std::to_string(i) + ": bad\n";
  }
  const std::string quoted = tune::quote_source_lines(plain(text), log);
  CHECK(quoted.find("k:10: x") != std::string::npos);
  CHECK(quoted.find("k:11:") == std::string::npos);
  CHECK(quoted.ends_with("\n  ..."));
}

TEST_CASE("lines of included files are quoted too, after the kernel's own") {
  const tune::resolved_source source{.text = "#line 1 \"lib/k\"\nx\ny\n#line 1 \"k\"\none\ntwo\n",
                                     .files = {{"k", "one\ntwo\n"}, {"lib/k", "x\ny\n"}},
                                     .runs = {{2, 1}, {5, 0}}};
  const std::string expected = "\n  k:2: two\n  lib/k:1: x";
  CHECK(tune::quote_source_lines(source, "lib/k(1): error\nk(2): error") == expected);
  CHECK(tune::quote_source_lines(source, "<kernel>:46:1: error\n<kernel>:42:1: note", 40) ==
        expected);
  CHECK(tune::quote_source_lines(source, "<kernel>:41:1: error", 40).empty());
}

TEST_CASE("the first error is the same text whichever compiler tells it") {
  const tune::resolved_source source = plain("one\ntwo\nthree");
  for (const char* log :
       {"k:2:5: error: expected ';'\nk:3:1: error: more\n2 errors generated.\n",
        "k:1:1: warning: unused [-Wunused]\nk:2:5: fatal error: expected ';'\n",
        "error: k:2:5: expected ';'\nerror: k:3:1: more\nDevice x failed to build the program\n",
        "<kernel>:43:5: error: expected ';'\n"}) {
    CAPTURE(log);
    CHECK(tune::first_error(source, log, 40) == "k:2:5: error: expected ';'");
  }
  CHECK(tune::first_error(source,
                          "k(1): warning #1-D: last line\n\nk(2): error: expected a \";\"\n    "
                          "oops\n    ^\n\n1 error detected in the compilation of \"k\".\n") ==
        "k:2: error: expected a \";\"");
  CHECK(tune::first_error(source, "k(2): error #20: unknown \"x\"\n") ==
        "k:2: error: unknown \"x\"");
}

TEST_CASE("an error without a place, or of another file, is shown as it is") {
  const tune::resolved_source source = plain("one\ntwo\nthree");
  CHECK(
      tune::first_error(source, "ptxas error   : Entry function 'f' uses too much shared data\n") ==
      "ptxas: error: Entry function 'f' uses too much shared data");
  CHECK(tune::first_error(source, "ptxas fatal   : Unresolved extern function 'g'\n") ==
        "ptxas: error: Unresolved extern function 'g'");
  CHECK(tune::first_error(source, "error: no room: left\n") == "error: no room: left");
  CHECK(tune::first_error(source, "<kernel>:7:3: error: in the preamble\n", 40) ==
        "<kernel>:7:3: error: in the preamble");
  CHECK(tune::first_error(source, "a/b.h:7:3: error: x\n") == "a/b.h:7:3: error: x");
}

TEST_CASE("a log without an error gives its first line, and nothing gives nothing") {
  const tune::resolved_source source = plain("one");
  CHECK(tune::first_error(source, "\n\nInvalid build option: -x\nmore\n") ==
        "Invalid build option: -x");
  CHECK(tune::first_error(source, "3 errors generated.") == "3 errors generated.");
  CHECK(tune::first_error(source, "").empty());
  CHECK(tune::first_error(source, "k:1:1: error: " + std::string(5000, 'x')).size() < 400);
}

}  // namespace build_log_test
