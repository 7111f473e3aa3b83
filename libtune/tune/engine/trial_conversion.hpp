// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/engine/trial_runner.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// A trial as the database keeps it.
stored_trial to_stored(const trial& finished);

/// A trial that the database has kept, as one that a search takes over. Empty if its configuration
/// is not one of the space, with all fields equal, or what was kept contradicts itself: what is
/// taken over may only win by times that are possible.
std::optional<trial> from_stored(const stored_trial& stored, const search_problem& problem);

/// What trials that did not compile, and those that are denied, say of others.
known_failures to_known_failures(const std::vector<stored_trial>& compile_failures,
                                 const std::vector<stored_trial>& denied = {});

}  // namespace tune
