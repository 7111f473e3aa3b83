// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/store/database/tuning_lock.hpp"

namespace tune::cli {

/// True for the wanted results.
using result_filter = std::function<bool(const function_identity&, const result_content&)>;

/// The results of a database as a lock, without priors. Writes nothing.
/// @throws nothing_found without a database
tuning_lock lock_of_database(const std::string& path, const result_filter& is_wanted);

/// The lock in a file. @throws error that names the file and its fault
tuning_lock read_lock(const std::string& path);

/// The lock in a file, or the results of a database file.
/// @throws nothing_found, or error that names the file and its fault
tuning_lock read_lock_or_database(const std::string& path);

/// The difference between two results for one key, or a result on one side only.
struct result_difference {
  function_identity function{};
  const locked_result* before = nullptr;  ///< null: the result is new
  const locked_result* after = nullptr;   ///< null: the result has been removed

  const locked_result& either() const { return before != nullptr ? *before : *after; }
  bool has_both() const { return before != nullptr && after != nullptr; }
  bool is_other_tuning() const { return has_both() && before->values != after->values; }
  /// True if both sides have the programs' digests, by the same libtune, and these differ with
  /// equal tunings.
  bool is_other_kernel() const;
};

/// All differences, in the order of functions, devices and keys, except in times alone. A function
/// with different fields counts as removed and new. The locks must outlive the returned list.
std::vector<result_difference> differences(const tuning_lock& before, const tuning_lock& after);

}  // namespace tune::cli
