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

/// The compiler for compile(), and its flags.
struct compile_options {
  std::vector<std::string> flags;            ///< for the device's own compiler
  const tune::compiler* compiler = nullptr;  ///< null: the cache, else compile here
  /// CUDA only: kernels that are not extern "C", named by a C++ expression, as for
  /// program::create_kernel: "reduce<float, 64>", "app::scale". Ignored elsewhere.
  std::vector<std::string> kernels{};
};

/// Compiles a kernel's text for a context, preceded by the portable preamble, the macros, and the
/// texts of kernel_library() that it includes. If no compiler is given, a program that was compiled
/// before is taken from program_cache(). Others are compiled on the calling thread, or by the
/// workers of compile_pool::shared() if several are compiled at the same time, and are then stored
/// in the cache.
/// @throws build_error whose text shows the first error in its first line, then the device, the
///         configuration, the source lines of the errors, and the compiler's log; also if the
///         library does not have an included text;
///         compiler_lost_error if the compiler crashed, was killed or took too long;
///         seal_broken_error on a sealed thread, even if the cache has the program
program compile(const context& context, const kernel_source& source, const defines& macros = {},
                const compile_options& options = {});

/// Compiles a kernel's text for all devices of a target (see compile_targets), without running it.
/// A kernel for OpenCL and CUDA can thus be checked for both on a machine without a GPU. To check a
/// template's kernels, construct it with a context of each of compile_targets().
///
///   tune::check_compiles(source, tune::defines().add("wgs", 64), "cuda sm_90");
///
/// Thread-safe.
/// @throws build_error as compile does; no_device_error if no compiler for the target is there,
///         with the missing part; argument_error if the target is invalid
void check_compiles(const kernel_source& source, const defines& macros, std::string_view target,
                    const compile_options& options = {});

}  // namespace tune
