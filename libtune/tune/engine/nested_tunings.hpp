// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The results of tunings inside another one, which is a tuning of this thread, or, in a child that
// tunes for another process, of the thread there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune::detail {

/// Returns the result of a call that has been tuned within the outermost tuning. Each call is tuned
/// only once there, so that the configurations of one search are comparable.
/// @returns empty if it has not been tuned there, and outside of any tuning
std::optional<std::vector<named_value>> made_inside(const std::string& name);
/// Stores a result for made_inside. @param for_process  also for is_tuned_in_process
void keep_made(const std::string& name, const std::vector<named_value>& values, bool for_process);
/// Returns true if this process, or one that it works for, has tuned the call in a mode that
/// applies to the whole process.
bool is_tuned_in_process(const std::string& name);

/// A configuration of a nested tuning that ended its process.
struct lost_inside {
  std::string name{};  ///< tuning_name
  search_identity search{};
  stored_trial trial{};
};

/// The tunings around a child's tuning, as listed in its request.
struct outer_tunings {
  struct made {
    std::string name{};
    std::vector<named_value> values{};
  };
  std::vector<std::string> scopes{};
  std::vector<made> inside{};
  std::vector<std::string> in_process{};
  std::vector<lost_inside> lost{};
};
/// Returns the tunings of this thread, without lost configurations.
outer_tunings surroundings();
/// Replaces this thread's own tunings by these.
void inherit(outer_tunings outer);
/// Returns the lost configurations of a search, from the inherited tunings.
std::vector<stored_trial> lost_in(const std::string& name, const search_identity& search);

}  // namespace tune::detail
