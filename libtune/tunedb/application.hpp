// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The application whose keys a command tunes or compares, and the devices for it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libtune/child/remote_tuning.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/device.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {

/// The only argument with which this program serves as an application: one of the built-in
/// operations.
inline constexpr const char* serve_argument = "--serve-as-worker";

/// The application with this path and arguments; without a path this program.
tuner_program application_of(const std::string& path, const std::vector<std::string>& arguments);

/// The autotune functions of an application.
/// @throws error that says what its main lacks
std::vector<remote_function> functions_of(const tuner_program& application);

/// Returns the devices for a command: those of the choice, and without any choice by an option or
/// the environment the usual ones of applications and those named. Lines on standard error name
/// the others.
/// @param all   also unusual devices
/// @param also  devices that keys name
/// @param verb  of the command, for these lines: "tuned"
std::vector<device> devices_for(const device_choice& choice, bool all,
                                std::span<const device_identity> also, const char* verb);

}  // namespace tune::cli
