// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/options.hpp"

namespace tune::detail {

/// Whether run_tuning would hand a call with these options to a host. Defined with it, in
/// executor.cpp.
/// @throws environment_error
bool runs_in_child(const tuning_options& options);

/// Runs one configuration once, where run_tuning runs the task. Returns why it does not work;
/// nothing if it does. Does not throw.
std::optional<std::string> try_in_child(const tuning_task& task,
                                        const std::vector<named_value>& configuration);

}  // namespace tune::detail
