// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/defines.hpp"
#include "libtune/store/cache/binary_cache.hpp"

namespace tune {

/// Returns 32 hexadecimal digits for a program's text, headers and options, including its name.
/// Included files are not covered.
std::string program_digest(const program_source& source);

/// Returns program_digest; for a program that may include files, "?" and a digest of that and of
/// the present content of its files. Only "?" (compile_scope::unknown_program) while its files are
/// unknown (see included_memory.hpp).
std::string watched_digest(const context& context, const program_source& source);

/// Returns all properties that determine the binary of a program, except for included files: its
/// text, headers and options, the device, and its compiler: the compiler with its headers,
/// libtune's own options (parts of context::compiler_identity), and the version of libtune.
binary_key program_key(const context& context, const program_source& source);

/// A future compilation, with the program that is expected.
struct expected_program {
  std::vector<named_value> configuration{};  ///< all are among the program's macros
  std::vector<named_value> key{};            ///< no macro of the program differs from one of these
  /// The digests (watched_digest) that it may have; empty if they are unknown. Called once, before
  /// the program is compiled. Must not throw.
  std::function<std::vector<std::string>()> digests{};
  /// Called if the digest differs. Its exceptions leave tune::compile.
  std::function<void()> differs{};
};

/// Attaches an expectation to a context: it is compared with the first program of its configuration
/// that tune::compile compiles for that context, on the thread that calls this (another thread may
/// compile another template at the same time). The latest 64 of a context are kept. If a program
/// matches several expectations, it is right if one of them has its digest, and otherwise it counts
/// as unknown. Thread-safe.
void expect_program(const context& context, expected_program expected);

/// Compares a program that is about to be compiled with the expectations of the context and thread.
/// Costs next to nothing without expectations. Throws as the `differs` of an expectation does.
/// Thread-safe.
void compare_with_expected(const context& context, const defines& macros,
                           const program_source& source);

}  // namespace tune
