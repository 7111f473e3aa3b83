// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune {

/// Lets threads that want the same thing at the same time share one making of it. Thread-safe.
class in_flight {
 public:
  using values = std::vector<named_value>;

  /// Calls make, unless another thread is doing so for the same key: then waits for that one and
  /// returns what it returns, or throws what it throws.
  /// @throws argument_error if this very thread is making it already and would wait for itself
  values share(const std::string& key, const std::function<values()>& make);

 private:
  struct flight {
    std::thread::id maker;
    std::shared_future<values> result;
  };

  std::mutex mutex_;
  std::map<std::string, flight> flights_;
};

}  // namespace tune
