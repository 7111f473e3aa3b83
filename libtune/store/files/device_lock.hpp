// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "libtune/store/files/file_lock.hpp"
#include "libtune/store/files/process_lock.hpp"

namespace tune {

/// The right to measure on a device, among the processes of all users of this machine that see
/// the same /dev/shm or /tmp. Where no file can be locked nobody is kept out. One thread uses an
/// object; two objects exclude each other also in one process.
///
/// It is the lock of a file that is made by whoever comes first, is never removed, is empty and
/// may be opened by everybody. What a candidate forks does not have it (store/process_lock.hpp).
class [[nodiscard]] device_lock {
 public:
  /// Takes nothing yet.
  /// @param device   what tells this piece of hardware from others; any text
  /// @param folders  absolute paths, the first choice first
  explicit device_lock(std::string_view device,
                       std::vector<std::string> folders = shared_folders());

  /// Waits while another has the lock. @param look  called meanwhile; may use holder
  /// @returns false if it still had it in the end
  bool take(std::chrono::milliseconds wait, const wait_look& look = {});

  /// The process that has the lock now, as far as the system tells.
  std::optional<::pid_t> holder() const noexcept { return lock_.holder(); }

  /// Where everybody can make files, whatever the environment says.
  static std::vector<std::string> shared_folders();
  /// The name of the file in its folder.
  const std::string& file_name() const noexcept { return name_; }

 private:
  bool try_take();

  std::string name_;
  std::vector<std::string> folders_;
  std::size_t place_ = 0;  ///< into folders_
  detail::process_lock lock_;
};

}  // namespace tune
