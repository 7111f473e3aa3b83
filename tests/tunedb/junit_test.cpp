// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/junit.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <string>

namespace junit_test {

using namespace tune::cli;

TEST_CASE("a report has a suite for each function and a case for each key, with counts") {
  const std::string document = junit_document(
      "recheck", {{.name = "f__1",
                   .cases = {{.name = "rows=1", .elapsed = std::chrono::milliseconds(1500)},
                             {.name = "rows=2",
                              .state = junit_state::failed,
                              .type = "lost",
                              .message = "5 % & more",
                              .output = "a < b"},
                             {.name = "rows=3", .state = junit_state::skipped, .message = "no"}}},
                  {.name = "g__0", .cases = {}}});
  CHECK(document == R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="recheck" tests="3" failures="1" errors="0" skipped="1" time="1.500">
  <testsuite name="f__1" tests="3" failures="1" errors="0" skipped="1" time="1.500">
    <testcase classname="f__1" name="rows=1" time="1.500"/>
    <testcase classname="f__1" name="rows=2" time="0.000">
      <failure type="lost" message="5 % &amp; more"/>
      <system-out>a &lt; b</system-out>
    </testcase>
    <testcase classname="f__1" name="rows=3" time="0.000">
      <skipped message="no"/>
    </testcase>
  </testsuite>
  <testsuite name="g__0" tests="0" failures="0" errors="0" skipped="0" time="0.000">
  </testsuite>
</testsuites>
)xml");
}

TEST_CASE("no text breaks the XML") {
  CHECK(xml_text("a\"b'<c>&") == "a&quot;b'&lt;c&gt;&amp;");
  CHECK(xml_text("one\ntwo\tthree") == "one&#10;two&#9;three");
  CHECK(xml_text(std::string("nul\0 bell\a", 10)) == "nul? bell?");
  CHECK(xml_text("\xff\xfe") == "??");
  CHECK(xml_text("\xEF\xBF\xBE|\xEF\xBF\xBF") == "?|?");
  CHECK(xml_text("µs") == "µs");
}

}  // namespace junit_test
