// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/device/context.hpp"
#include "libtune/verify/device_comparison.hpp"

namespace tune::detail {

/// The latest results that a custom check has found right. Most configurations of a kernel give the
/// same bits, and comparing these on the device takes a small part of the time for which a check on
/// the host copies and reads large arrays. Thread-safe.
class right_results {
 public:
  using results = std::vector<std::pair<std::string, device_array>>;

  /// True if each of these has the bits of the result that was kept under its name. False for
  /// small results, and while nothing is kept. Waits for the queue. @throws device_error
  bool are(command_queue& queue, const results& found, bit_comparison& bits);
  /// Keeps these, on the device, instead of earlier ones. Does nothing if they are small, or take
  /// more than a sixteenth of the device's memory, or there is no memory for them.
  void keep(command_queue& queue, const results& found, bit_comparison& bits);

 private:
  std::mutex mutex_;
  std::optional<context> place_{};  // of the kept ones
  std::vector<std::pair<std::string, bit_comparison::snapshot>> kept_;
};

}  // namespace tune::detail
