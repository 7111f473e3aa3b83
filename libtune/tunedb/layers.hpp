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

/// One of the databases that a program looks in, from the user's down to the last of the system.
struct layer {
  std::string path{};  ///< absolute
  bool system = false;
  std::string fault{};  ///< why it is passed over; empty if it is not
  bool has_tables = false;
  std::vector<function_identity> functions{};  ///< that it has, by name and version
  database_access access = database_access::read_only;

  /// "user", "system 1", "system 2", "pulled"
  std::string role{};
  /// "in use", "empty", or "passed over: " and why
  std::string state() const;
  bool can_be_used() const noexcept { return fault.empty() && has_tables; }
  /// Its results and searches of a function, without trials; empty if it cannot be read.
  function_content read(const function_identity& function) const;
};

/// The databases that a program would look in, in that order, each looked into. A system database
/// that is not there has a fault; the user's is made when it is needed. Does not throw for what is
/// wrong with one.
/// @param user         empty if there is none
/// @param user_access  anything but immutable
/// @param pulled       of the results of a shared store; empty if there is none
std::vector<layer> find_layers(const std::string& user, const std::vector<std::string>& systems,
                               database_access user_access = database_access::read_only,
                               const std::string& pulled = {});
/// The same of resolved settings.
std::vector<layer> find_layers(const tuning_settings& settings,
                               database_access user_access = database_access::read_only);

/// The function of that name, or NAME__VERSION: without a version the highest that any layer has.
/// Of layers that have it, the uppermost says what its fields are. @throws nothing_found
function_identity find_function(const std::vector<layer>& layers, const std::string& text);

json to_json(const std::vector<layer>& layers);

}  // namespace tune::cli
