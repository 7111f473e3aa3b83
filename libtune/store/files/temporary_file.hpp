// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "libtune/store/files/private_folder.hpp"

namespace tune::detail {

/// A file that is written under a name of its own and then takes another's place, so that readers
/// see all of it or nothing. Removed at the end of its life unless it has been published; a process
/// that was killed leaves it behind. Not thread-safe.
class [[nodiscard]] temporary_file {
 public:
  /// @param folder  outlives this
  /// @throws std::system_error
  explicit temporary_file(const private_folder& folder);
  ~temporary_file();
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  /// Appends. A limit on the size of files is an error like a full disk, not a signal.
  /// @throws std::system_error
  void write(std::span<const std::byte> bytes);
  /// Makes what was written survive a loss of power. @throws std::system_error
  void synchronise();
  /// What the file system's clock said when it was written. @throws std::system_error
  file_time written() const { return last_use(file_); }
  /// Gives it its final name, in place of what has this name now. @throws std::system_error
  void publish(const std::string& name);

 private:
  const private_folder& folder_;
  std::string name_;
  file_descriptor file_;
};

/// Whether a file of this name can only be a temporary one.
bool is_temporary_name(std::string_view name) noexcept;

}  // namespace tune::detail
