// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {

/// A result in a lock.
struct locked_result {
  std::vector<named_value> arguments{};  ///< in the order of function_identity::key_fields
  std::vector<named_value> values{};     ///< in the order of function_identity::value_fields
  device_identity device{};
  std::optional<double> score_ns{};  ///< the measured time, if any
  std::string tuned_at{};            ///< UTC; for people
  /// The digests of the programs compiled for the trial that found it (result_origin::programs),
  /// and the version of libtune that made them. Empty: the programs are not compared.
  std::vector<std::string> programs{};
  std::string library_version{};
};

/// The results in a lock for one version of an autotune function.
struct locked_function {
  function_identity function{};
  std::vector<locked_result> results{};
};

/// The results of a release, fixed in a file that is reviewed and stored with its sources:
///
///   {"format": "libtune tuning lock", "format_version": 1, "functions": [{
///      "name", "version", "key_fields", "value_fields",
///      "results": [{"arguments": {...}, "values": {...}, "device": {"device_name": ...},
///                   "score_ns", "tuned_at", "programs": [...], "library_version"}]}]}
///
/// Functions are in the order of their names and versions, results in that of devices and
/// arguments, so that equal locks are equal files. Immutable.
class tuning_lock {
 public:
  tuning_lock() = default;
  /// @throws argument_error if a function or a key is repeated
  explicit tuning_lock(std::vector<locked_function> functions);

  /// @throws argument_error that names the fault of the document
  static tuning_lock from_json(std::string_view text);
  std::string to_json() const;

  const std::vector<locked_function>& functions() const noexcept { return functions_; }
  /// The number of results.
  std::size_t size() const noexcept { return places_.size(); }

  /// Returns the result for exactly this key and device; null if it is missing.
  const locked_result* find(const function_identity& function, const record_key& key) const;

  /// Returns the reason for a missing result, in words: the first of function, version, fields, key
  /// and device that the lock lacks, and the columns in which the nearest device differs.
  std::string absence(const function_identity& function, const record_key& key) const;

 private:
  struct place {
    std::size_t function;
    std::size_t result;
  };
  const locked_function* find_function(const function_identity& function) const;

  std::vector<locked_function> functions_;
  std::unordered_map<std::string, place> places_;  // by function, arguments and device
};

}  // namespace tune
