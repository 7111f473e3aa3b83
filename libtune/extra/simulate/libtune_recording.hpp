// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/extra/simulate/recorded_space.hpp"

namespace tune::detail {

/// All trials for one key of one function on one device, the latest of each configuration; scored
/// by the goal of the function. @throws argument_error for more than one of these, or no trial
recorded_space recorded_in(const database_content& content, std::string name);

}  // namespace tune::detail
