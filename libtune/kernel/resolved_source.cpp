// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/resolved_source.hpp"

namespace tune {

std::string line_directive(std::size_t line, std::string_view file_name) {
  std::string text = "#line " + std::to_string(line) + " \"";
  for (const char c : file_name.empty() ? "<string>" : file_name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"\n";
}

}  // namespace tune
