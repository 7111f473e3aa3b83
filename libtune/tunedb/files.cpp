// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/files.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/files/file_system.hpp"

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

namespace {

constexpr const char* own_output = "/proc/self/fd/1";

bool is_same_file(const std::string& path, const struct stat& other) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_dev == other.st_dev &&
         status.st_ino == other.st_ino;
}

/// True if a file begins as an export does, or is empty.
bool is_export(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(256, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  if (begin.empty()) return !file.bad() && file.eof();
  return begin.find("\"format\": \"libtune") != std::string::npos ||
         begin.find("\"libtune\": {") != std::string::npos;
}

void check_file(const std::string& path, bool is_backup, bool force) {
  std::error_code ignored;
  if (force || (!is_backup && is_export(path))) return;
  if (is_backup && std::filesystem::file_size(path, ignored) == 0) return;
  throw error(fmt::format("'{}' is there already, and {}; name another file, or say --force", path,
                          is_backup ? "would be lost" : "is no export of libtune"));
}

}  // namespace

std::string export_target(const std::string& path, const std::string& database, bool is_backup,
                          bool force) {
  struct stat output {};
  const bool is_output =
      path == "-" || (::fstat(STDOUT_FILENO, &output) == 0 && is_same_file(path, output));
  if (detail::belongs_to_database(is_output ? own_output : path, database)) {
    throw error(fmt::format(
        "'{}' is the database '{}' or belongs to it, and would be destroyed; name another file",
        path, database));
  }
  if (is_output && !is_backup) return "-";
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return path;
  if (S_ISLNK(status.st_mode) && ::stat(path.c_str(), &status) != 0) {
    throw error(fmt::format("'{}' is a symbolic link to nothing; name a file", path));
  }
  if (S_ISREG(status.st_mode)) {
    const std::string target = std::filesystem::canonical(path).string();
    check_file(target, is_backup, force);
    return target;
  }
  if (is_backup || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode)) {
    throw error(fmt::format("'{}' is no file that could be written; name another", path));
  }
  return path;
}

void write_file(const std::string& path, const std::string& content) {
  struct stat status {};
  if (path == "-") {
    if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size()) {
      throw error("standard output could not be written");
    }
  } else if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    std::ofstream stream(path, std::ios::binary);
    if (!(stream << content << std::flush)) throw error("'" + path + "' could not be written");
  } else {
    replace_file(path, content);
  }
}

}  // namespace tune::cli
