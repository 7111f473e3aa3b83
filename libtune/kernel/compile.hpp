// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/kernel/defines.hpp"
#include "libtune/kernel/kernel_source.hpp"

namespace tune {

class compiler;

/// The compiler that compile() uses, and the flags for it.
struct compile_options {
  std::vector<std::string> flags;            ///< for the device's own compiler
  const tune::compiler* compiler = nullptr;  ///< null: the cache, else compile here
  /// CUDA: kernels called for by a C++ expression, as program::create_kernel names them then:
  /// "reduce<float, 64>", "app::scale"; those that are not extern "C". Elsewhere it has no effect.
  std::vector<std::string> kernels{};
};

/// Compiles a kernel's text for a context, with the portable preamble, the macros, and what it
/// includes of the kernel_library() before it. If no compiler is given, a program that has been
/// compiled before is taken from program_cache(), and others are compiled and kept there: on the
/// calling thread, or, while others are compiled too, by the workers of compile_pool::shared().
/// @throws build_error whose text shows the first error in its first line, then the device, the
///         configuration, the source lines that the compiler complains of, and its log; or if the
///         library has no such text
///         compiler_lost_error if the compiler crashed, was killed or took too long
///         seal_broken_error on a sealed thread, also for a program that the cache has
program compile(const context& context, const kernel_source& source, const defines& macros = {},
                const compile_options& options = {});

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
