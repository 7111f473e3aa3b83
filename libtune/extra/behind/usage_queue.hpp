// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tune::detail {

/// Names in the order of their urgency: the number of requests times the expected gain of one
/// request. A pure value.
class usage_queue {
 public:
  /// @param gain  positive; the latest one is used
  void ask(const std::string& name, double gain);
  /// Removes and returns the most urgent name, the first of equals; empty without names.
  std::optional<std::string> next();
  std::size_t size() const noexcept { return names_.size(); }

 private:
  struct entry {
    std::string name;
    double asked = 0;
    double gain = 1;
  };
  std::vector<entry> names_;  // in the order of their first requests
};

}  // namespace tune::detail
