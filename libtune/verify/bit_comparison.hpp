// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/verify/array_comparer.hpp"

namespace tune::detail {

/// Finds out whether two runs gave the same bits: large arrays are copied and compared on the
/// device, where it can, and others on the host. Thread-safe.
class bit_comparison {
 public:
  /// What an array held at a time.
  struct snapshot {
    array_layout layout;
    std::optional<buffer> on_device{};
    std::vector<std::byte> on_host{};
  };

  /// Waits for the queue. @throws device_error
  snapshot keep(command_queue& queue, const device_array& array);

  /// Whether an element, padding aside, has other bits now: which, as comparison::describe tells.
  /// Waits for the queue. @throws device_error
  std::optional<std::string> find_change(command_queue& queue, const snapshot& before,
                                         const device_array& now);

 private:
  std::optional<bool> differ_on_device(command_queue& queue, const snapshot& before,
                                       const device_array& now);

  std::mutex mutex_;
  std::map<std::size_t, array_comparer> comparers_;  // by the bytes of an element
};

}  // namespace tune::detail
