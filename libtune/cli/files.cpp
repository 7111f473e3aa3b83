// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/cli/files.hpp"

#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <system_error>

#include "libtune/base/error.hpp"
#include "libtune/store/replaced_file.hpp"

namespace tune::cli {

std::string read_file(const std::string& path) {
  const bool standard = path == "-";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(
      standard ? nullptr : std::fopen(path.c_str(), "rb"), std::fclose);
  std::FILE* file = standard ? stdin : opened.get();
  std::string content;
  char part[65536];
  while (file != nullptr) {
    const std::size_t count = std::fread(part, 1, sizeof part, file);
    if (count == 0) break;
    content.append(part, count);
  }
  if (file == nullptr || std::ferror(file) != 0) {
    throw error(
        fmt::format("'{}' could not be read: {}", path, std::generic_category().message(errno)));
  }
  return content;
}

void write_file(const std::string& path, const std::string& content) {
  if (path != "-") {
    replace_file(path, content);
  } else if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size()) {
    throw error("standard output could not be written");
  }
}

}  // namespace tune::cli
