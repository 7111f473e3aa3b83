// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Trials that ended the process that they ran in, or the device's context, as a database has them.
// The caller says which outcomes these are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/device_identity.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune {

/// An incident: one of these trials, with all that it counts for.
struct stored_incident {
  function_identity function{};
  std::string arguments{};            ///< of the key, for people
  std::string arguments_canonical{};  ///< equal for equal keys
  device_identity device{};           ///< its name, platform and driver; the rest is empty
  std::string device_canonical{};     ///< equal for devices that are equal in everything
  search_identity search{};
  search_id in_search{};
  std::int64_t position = 0;  ///< of the trial in its search
  stored_trial trial{};
};

/// True for an incident that is meant.
using incident_choice = std::function<bool(const stored_incident&)>;

/// All of a database with one of these outcomes that were tried and that `which` chooses, the
/// earliest first. None where there is no file. @throws database_error
std::vector<stored_incident> list_incidents(const std::string& path,
                                            std::span<const std::string> outcomes,
                                            const incident_choice& which);

/// Removes those trials, in one transaction, so that they count no more.
/// @returns how many there were. @throws database_error
std::size_t forget_incidents(const std::string& path, std::span<const std::string> outcomes,
                             const incident_choice& which);

}  // namespace tune
