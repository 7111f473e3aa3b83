// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/store/files/file_lock.hpp"

namespace tune {

/// Lets threads that need the same result at the same time share one computation. Thread-safe.
class single_flight {
 public:
  using values = std::vector<named_value>;

  single_flight();
  ~single_flight();
  single_flight(const single_flight&) = delete;
  single_flight& operator=(const single_flight&) = delete;

  /// Calls make, unless another thread is doing so for the same key: then waits for that thread,
  /// and returns its result or throws its exception.
  /// @param wait  the longest wait for the other thread
  /// @param look  called during the wait; its exceptions end the wait
  /// @returns empty if the other thread did not finish in time
  /// @throws argument_error if this thread itself is already computing it and would wait for itself
  std::optional<values> share(const std::string& key, const std::function<values()>& make,
                              std::chrono::milliseconds wait, const wait_look& look = {});

  /// Returns the number of threads that wait for the key now.
  std::size_t followers(const std::string& key) const;

 private:
  struct flight;

  values lead(const std::string& key, flight& own, const std::function<values()>& make);
  std::optional<values> follow(flight& joined, std::chrono::milliseconds wait,
                               const wait_look& look);
  void land(const std::string& key, const flight& own);

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<flight>> flights_;
};

}  // namespace tune
