// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_compiler.hpp"

#include <fmt/format.h>
#include <sstream>
#include <string>

#include "libtune/base/error.hpp"

namespace tune::testing {
namespace {

// #line 7 "name" says what the next line is called.
void follow_line_directive(const std::string& line, std::string& name, std::size_t& number) {
  std::istringstream words(line);
  std::string directive;
  std::size_t next = 0;
  if (words >> directive >> next) number = next - 1;
  const std::size_t open = line.find('"');
  if (open != std::string::npos) name = line.substr(open + 1, line.rfind('"') - open - 1);
}

std::string compile_log(const program_source& source) {
  std::istringstream lines(source.text);
  std::string log;
  std::string name = source.name;
  std::size_t number = 0;
  int conditions = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("#line ")) follow_line_directive(line, name, number);
    if (line.starts_with("#if")) ++conditions;
    if (line.starts_with("#endif")) --conditions;
    if (line.starts_with("#error") && conditions == 0) {
      log += fmt::format("{}:{}:1: error: {}\n", name, number, line.substr(1));
    }
  }
  return log;
}

}  // namespace

void check_source(const program_source& source, const device_info& device) {
  const std::string log = compile_log(source);
  if (log.empty()) return;
  throw build_error(fmt::format("'{}' does not compile for device '{}':\n{}", source.name,
                                device.identity.name, log),
                    log);
}

}  // namespace tune::testing
