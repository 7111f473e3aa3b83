// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "libtune/store/stored_trial.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// The words of the outcomes that a poisonous configuration can have.
std::span<const std::string> poisonous_outcomes();

/// Whether a configuration took the process that it ran in, or the device's context, with it: it is
/// not run again. A compiler that crashed or took too long is something else. The two are told
/// apart by the programs: of what was lost with its process none are known.
bool is_poison(const stored_trial& trial);
bool is_poison(const trial& trial);

}  // namespace tune
