// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Which configurations are not run any more, because they took the process that they ran in, or the
// device's context, with them. Each time that one did is an incident: a trial like any other, which
// counts for the same key, function and version, device with its driver, compiler and libtune.
// `tunedb denylist` lists and clears them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// One incident may be bad luck. After so many, each in a search of its own, a configuration is
/// denied.
inline constexpr std::size_t incidents_to_deny = 2;
/// The same where a search is asked for by force: that tries what is denied once more.
inline constexpr std::size_t incidents_to_deny_by_force = 3;

/// The words of the outcomes that an incident can have.
std::span<const std::string> incident_outcomes();

/// Whether a configuration took the process that it ran in, or the device's context, with it. A
/// compiler that crashed or took too long is something else, and so is a process that found no
/// memory and lives. They are told apart by the programs: of what was lost with its process none
/// are known.
bool is_incident(const stored_trial& trial);
bool is_incident(const trial& trial);

/// The configurations with so many incidents: the first trial of each, which says how many there
/// were, and where the list is. @param incidents  the latest first; what is none does not count
std::vector<stored_trial> denied_by(const std::vector<stored_trial>& incidents, std::size_t enough);

}  // namespace tune
