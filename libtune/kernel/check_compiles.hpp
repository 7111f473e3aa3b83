// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/defines.hpp"
#include "libtune/kernel/kernel_source.hpp"

namespace tune {

/// Compiles a kernel's text for all that target means (see compile_targets), and runs nothing: so a
/// kernel that is written for OpenCL and CUDA is checked for both where there is no GPU. To check
/// what a template compiles, construct it with a context of each of compile_targets().
///
///   tune::check_compiles(source, tune::defines().add("wgs", 64), "cuda sm_90");
///
/// Thread-safe.
/// @throws build_error as compile does; no_device_error if there is nothing that compiles for
///         target, with what is missing; argument_error if target is no target
void check_compiles(const kernel_source& source, const defines& macros, std::string_view target,
                    const compile_options& options = {});

}  // namespace tune
