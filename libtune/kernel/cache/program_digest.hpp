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

/// 32 hexadecimal digits for a program's text, headers and options, its name included. Files that
/// it includes are no part of it.
std::string program_digest(const program_source& source);

/// Returns the same as program_digest; for a program that may include files "?" and a digest of
/// that and of the content that its files have now. Only "?" (compile_scope::unknown_program) as
/// long as its files are not known (see included_memory.hpp).
std::string watched_digest(const context& context, const program_source& source);

/// Everything that the binary of a program depends on, except included files: its text, headers and
/// options, the device, and what compiles for it: the compiler with its own headers, the options
/// that libtune adds (they are part of context::compiler_identity), and the version of libtune.
binary_key program_key(const context& context, const program_source& source);

/// A program that is going to be compiled, and which one it should be.
struct expected_program {
  std::vector<named_value> configuration{};  ///< all of them are among its macros
  std::vector<named_value> key{};            ///< none of its macros differs from one of them
  /// The digests (watched_digest) that it may have; none if they are not known after all. Called
  /// once, before the program is compiled. Does not throw.
  std::function<std::vector<std::string>()> digests{};
  /// Called if it has another one. What it throws leaves tune::compile.
  std::function<void()> differs{};
};

/// Attaches an expectation to a context: the first program of its configuration that tune::compile
/// gets for that context, on the thread that calls this, is compared with it (another thread may
/// compile another template at the same time). The latest 64 of a context are kept. A program that
/// fits several counts as right if it is right for one of them, and as unknown if it is for none.
/// Thread-safe.
void expect_program(const context& context, expected_program expected);

/// Compares a program that is about to be compiled with those that are expected of the context and
/// thread. Costs next to nothing while none is. Throws as the `differs` of an expectation does.
/// Thread-safe.
void compare_with_expected(const context& context, const defines& macros,
                           const program_source& source);

}  // namespace tune
