// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/junit.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "libtune/base/terminal_text.hpp"

namespace tune::cli {
namespace {

// fmt::format writes numbers alike in every locale.
std::string seconds(std::chrono::nanoseconds time) {
  return fmt::format("{:.3f}", std::chrono::duration<double>(time).count());
}

std::size_t count(const std::vector<junit_case>& cases, junit_state state) {
  return static_cast<std::size_t>(std::ranges::count(cases, state, &junit_case::state));
}

std::string counts_of(const std::vector<junit_case>& cases) {
  std::chrono::nanoseconds elapsed{0};
  for (const junit_case& item : cases) elapsed += item.elapsed;
  return fmt::format(R"(tests="{}" failures="{}" errors="0" skipped="{}" time="{}")", cases.size(),
                     count(cases, junit_state::failed), count(cases, junit_state::skipped),
                     seconds(elapsed));
}

std::string inside_of(const junit_case& item) {
  std::string text;
  if (item.state == junit_state::failed) {
    text += fmt::format("      <failure type=\"{}\" message=\"{}\"/>\n", xml_text(item.type),
                        xml_text(item.message));
  } else if (item.state == junit_state::skipped) {
    text += fmt::format("      <skipped message=\"{}\"/>\n", xml_text(item.message));
  }
  if (!item.output.empty()) {
    text += fmt::format("      <system-out>{}</system-out>\n", xml_text(item.output));
  }
  return text;
}

void append(std::string& to, const junit_suite& suite) {
  const auto end = std::back_inserter(to);
  fmt::format_to(end, "  <testsuite name=\"{}\" {}>\n", xml_text(suite.name),
                 counts_of(suite.cases));
  for (const junit_case& item : suite.cases) {
    const std::string inside = inside_of(item);
    fmt::format_to(end, R"(    <testcase classname="{}" name="{}" time="{}")", xml_text(suite.name),
                   xml_text(item.name), seconds(item.elapsed));
    to += inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n";
  }
  to += "  </testsuite>\n";
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string made;
  for (const char c : detail::terminal_text(text)) {
    switch (c) {
      case '&': made += "&amp;"; break;
      case '<': made += "&lt;"; break;
      case '>': made += "&gt;"; break;
      case '"': made += "&quot;"; break;
      case '\n': made += "&#10;"; break;
      case '\r': made += "&#13;"; break;
      case '\t': made += "&#9;"; break;
      default: made += c;
    }
  }
  // U+FFFE and U+FFFF.
  for (const char* forbidden : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (auto at = made.find(forbidden); at != std::string::npos; at = made.find(forbidden)) {
      made.replace(at, 3, "?");
    }
  }
  return made;
}

std::string junit_document(const std::string& name, const std::vector<junit_suite>& suites) {
  std::vector<junit_case> all;
  for (const junit_suite& suite : suites) {
    all.insert(all.end(), suite.cases.begin(), suite.cases.end());
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites name=\"{}\" {}>\n", xml_text(name), counts_of(all));
  for (const junit_suite& suite : suites) append(text, suite);
  return text + "</testsuites>\n";
}

}  // namespace tune::cli
