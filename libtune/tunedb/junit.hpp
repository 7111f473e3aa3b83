// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reports of tests in the XML of JUnit, which servers for continuous integration read.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tune::cli {

enum class junit_state : std::uint8_t { passed, failed, skipped };

struct junit_case {
  std::string name{};
  junit_state state = junit_state::passed;
  std::string type{};     ///< a word for the kind of a failure
  std::string message{};  ///< the reason of a failure or skip
  std::string output{};   ///< further text; empty: none
  std::chrono::nanoseconds elapsed{0};
};

struct junit_suite {
  std::string name{};  ///< also the class name of its cases
  std::vector<junit_case> cases{};
};

/// A text with the special characters of XML as entities, line ends too. Characters that XML 1.0
/// does not allow, and bytes that are not UTF-8, become '?'.
std::string xml_text(std::string_view text);

/// A whole document.
std::string junit_document(const std::string& name, const std::vector<junit_suite>& suites);

}  // namespace tune::cli
