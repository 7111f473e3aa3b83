// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {

/// The results that this process has found already, so that finding them again touches no disk.
/// Results that were not found are not remembered, because another process may store one.
///
/// tuning_database::store forgets what the shared memory has of the same function and arguments,
/// whatever the database and the device: a result is never older than what this process stored.
/// Results that other processes store for a key that has been found are seen by the next process.
/// Thread-safe.
class record_memory {
 public:
  /// The process's one, which tuning_layers uses.
  static record_memory& shared();

  /// @param most  how many functions and arguments are remembered before all are forgotten
  explicit record_memory(std::size_t most = 65'536) : most_(most) {}

  /// @param scope  names the rest that the result depends on, such as the databases
  std::optional<record> find(const std::string& scope, const function_identity& function,
                             const record_key& key) const;

  /// Grows by one whenever something is forgotten.
  std::uint64_t generation() const;

  /// Remembers what was found in a database.
  /// @param generation  from before the look: what has been forgotten since is not remembered
  void remember(const std::string& scope, const function_identity& function, const record_key& key,
                const record& found, std::uint64_t generation);

  void forget(const function_identity& function, const std::vector<named_value>& arguments);
  void forget_all();

 private:
  using finds = std::unordered_map<std::string, record>;  // by scope and device

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, finds> finds_;  // by function and arguments
  std::uint64_t generation_ = 0;
};

}  // namespace tune
