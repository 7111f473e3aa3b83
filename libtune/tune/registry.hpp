// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <vector>

namespace tune {

class autotuner_core;

/// The autotune functions that live in this program. Thread-safe.
class autotuner_registry {
 public:
  static autotuner_registry& instance();

  void add(const autotuner_core& added);
  void remove(const autotuner_core& removed) noexcept;
  std::vector<const autotuner_core*> all() const;

  /// @throws argument_error if another function has the same name and version: they would share
  ///         a table, and each would find the results of the other
  void require_unique(const autotuner_core& one) const;

 private:
  autotuner_registry() = default;

  mutable std::mutex mutex_;
  std::vector<const autotuner_core*> autotuners_;
};

}  // namespace tune
