// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "libtune/tune/options.hpp"
#include "libtune/tune/tuning_host.hpp"

namespace tune::detail {

/// Whether run_tuning would hand a call with these options to a host. Defined with it, in
/// tuning_host.cpp.
/// @throws environment_error
bool runs_elsewhere(const tuning_options& options);

/// Runs what a task chooses, each once, where run_tuning does. Returns why nothing of it works;
/// nothing if something does. Observers hear nothing. Does not throw.
std::optional<std::string> try_elsewhere(const tuning_task& task);

}  // namespace tune::detail
