// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {

/// One of the databases of a program's lookups, from the user's down to the last one of the system.
struct layer {
  std::string path{};  ///< absolute
  bool system = false;
  std::string fault{};  ///< the reason why it is skipped; empty if it is used
  bool has_tables = false;
  std::vector<function_identity> functions{};  ///< its functions, by name and version
  database_access access = database_access::read_only;

  /// "user", "system 1", "system 2" or "pulled"
  std::string role{};
  /// "in use", "empty", or "passed over: " with the reason
  std::string state() const;
  bool can_be_used() const noexcept { return fault.empty() && has_tables; }
  /// One of its chosen results of a function; empty also if it cannot be read.
  std::optional<result_content> any_result(const function_identity& function,
                                           const row_choice& choice) const;
};

/// The databases of a program's lookups, in that order, each opened. A missing system database has
/// a fault; the user's is created on first use. Errors of single databases are not thrown.
/// @param user         empty for none
/// @param user_access  anything but immutable
/// @param pulled       with the results of a shared store; empty for none
std::vector<layer> find_layers(const std::string& user, const std::vector<std::string>& systems,
                               database_access user_access = database_access::read_only,
                               const std::string& pulled = {});
/// The databases of resolved settings.
std::vector<layer> find_layers(const tuning_settings& settings,
                               database_access user_access = database_access::read_only);

/// The function with that name, or NAME__VERSION: without a version the highest in any layer. Its
/// fields are taken from the uppermost layer that has it. @throws nothing_found
function_identity find_function(const std::vector<layer>& layers, const std::string& text);

json to_json(const std::vector<layer>& layers);

}  // namespace tune::cli
