// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "examples/poison/square_root.hpp"

namespace poison {

/// A pipeline without tuning: a thread that launches a kernel on the same device about a thousand
/// times a second, through a context of its own, and waits for each. The destructor ends it.
class bystander {
 public:
  using milliseconds = std::chrono::duration<double, std::milli>;

  /// The launches since the last report.
  struct report {
    std::size_t launches = 0;
    milliseconds median{0};  ///< the time from before a launch to the end of its kernel
    milliseconds longest{0};
    std::string error{};  ///< the text of the first failed launch; empty without one
  };

  explicit bystander(const tune::device& device);
  bystander(const bystander&) = delete;
  bystander& operator=(const bystander&) = delete;

  report take_report();

 private:
  void launch_on_and_on(const std::stop_token& stop);
  void launch_once();

  tune::command_queue queue_;
  square_root operation_;
  std::mutex mutex_;
  std::vector<milliseconds> times_;
  std::string error_;
  std::jthread thread_;
};

}  // namespace poison
