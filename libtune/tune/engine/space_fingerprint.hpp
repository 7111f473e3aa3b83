// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/tune/engine/trial_runner.hpp"

namespace tune {

/// What stands for the space of a search, fields that are no parameters and their values included:
/// 32 hexadecimal digits of what canonical_text says. Empty if it cannot be told.
/// The space must not be empty. Does not throw.
std::string space_fingerprint(const search_problem& problem);

}  // namespace tune
