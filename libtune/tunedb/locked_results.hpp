// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/store/database/tuning_lock.hpp"

namespace tune::cli {

/// True for the results that are wanted.
using result_filter = std::function<bool(const function_identity&, const result_content&)>;

/// The results of a database as a lock, priors left out. Nothing is written.
/// @throws nothing_found if there is no database
tuning_lock lock_of_database(const std::string& path, const result_filter& is_wanted);

/// The lock that a file holds. @throws error that names the file and its fault
tuning_lock read_lock(const std::string& path);

/// The lock that a file holds, or the results of the database that it is.
/// @throws nothing_found, or error that names the file and its fault
tuning_lock read_lock_or_database(const std::string& path);

/// The difference between two results for one key, or a result that only one side has.
struct result_difference {
  function_identity function{};
  const locked_result* before = nullptr;  ///< null: it is new
  const locked_result* after = nullptr;   ///< null: it is gone

  const locked_result& either() const { return before != nullptr ? *before : *after; }
  bool has_both() const { return before != nullptr && after != nullptr; }
  bool is_other_tuning() const { return has_both() && before->values != after->values; }
  /// True if both sides know their programs, by the same libtune, and these differ though the
  /// tunings do not.
  bool is_other_kernel() const;
};

/// All differences, in the order of functions, devices and keys. Times alone are none. A function
/// whose fields differ is gone, and new. The locks have to outlive what is returned.
std::vector<result_difference> differences(const tuning_lock& before, const tuning_lock& after);

}  // namespace tune::cli
