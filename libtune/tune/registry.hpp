// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/function_identity.hpp"

namespace tune {

class autotuner_core;

/// The autotune functions that live in this program. Thread-safe.
class autotuner_registry {
 public:
  static autotuner_registry& instance();

  /// What throws argument_error for values that are no tuning of a function.
  using check_function = std::function<void(const std::vector<named_value>&)>;

  void add(const autotuner_core& added, check_function check);
  void remove(const autotuner_core& removed) noexcept;
  std::vector<const autotuner_core*> all() const;

  /// Keeps those that live when main returns: static autotuners can then be called to the very end
  /// of the process. Called before the first search or lookup.
  void keep_at_exit();

  /// @throws argument_error if the values are no tuning of a function, or no function is so
  void check(const function_identity& function, const std::vector<named_value>& values) const;

  /// @throws argument_error if another function has the same name and version: they would share
  ///         a table, and each would find the results of the other
  void require_unique(const autotuner_core& one) const;

 private:
  autotuner_registry() = default;
  friend class detail::never_destroyed<autotuner_registry>;

  void keep_all() noexcept;

  mutable std::mutex mutex_;
  std::vector<const autotuner_core*> autotuners_;
  std::map<const autotuner_core*, check_function> checks_;
  std::vector<std::shared_ptr<const autotuner_core>> kept_;  // from the end of main on
};

}  // namespace tune
