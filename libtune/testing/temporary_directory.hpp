// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// A new empty folder, removed at the end with its contents.
class [[nodiscard]] temporary_directory {
 public:
  /// @throws std::system_error if the folder cannot be made
  temporary_directory();
  ~temporary_directory();
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;

  /// The path of the folder, which exists as long as this object.
  const std::filesystem::path& path() const noexcept { return path_; }
  /// The path of a file in it.
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace tune::testing
