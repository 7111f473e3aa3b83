// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp
#include <string>
#include <system_error>

namespace tune::testing {

/// A new, empty folder, removed with all that is in it. In memory where the system has such a
/// place, so that tests do not wait for a disk.
class [[nodiscard]] temporary_folder {
 public:
  temporary_folder() {
    namespace fs = std::filesystem;
    const fs::path memory("/dev/shm");
    std::string name =
        ((fs::is_directory(memory) ? memory : fs::temp_directory_path()) / "libtune-XXXXXX")
            .string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Returns all bytes of a file.
inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tune::testing
