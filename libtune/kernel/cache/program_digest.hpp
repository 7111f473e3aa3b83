// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/defines.hpp"
#include "libtune/store/cache/binary_cache.hpp"

namespace tune {

/// True if a program may be more than its text and options say: it includes files, or asks whether
/// there are any. When in doubt, it may.
bool depends_on_files(const program_source& source);

/// 32 hexadecimal digits for a program's text and options, its name included. Empty if it depends
/// on files.
std::optional<std::string> program_digest(const program_source& source);

/// Returns the same as program_digest; for a program that depends on files "?" and a digest of
/// text, options and the content of the files that it includes, found by their names in the folders
/// of its options. That digest serves to notice a change, not to take one program for another:
/// files of the compiler's own folders go by name alone. Only "?" where the included files cannot
/// be determined.
std::string watched_digest(const program_source& source);

/// Everything that the binary of a program depends on, except included files: its text and options,
/// the device, and what compiles for it: the compiler, the options that libtune adds (they are part
/// of context::compiler_identity), and the version of libtune.
binary_key program_key(const context& context, const program_source& source);

/// A program that is going to be compiled, and which one it should be.
struct expected_program {
  std::vector<named_value> configuration{};  ///< all of them are among its macros
  std::vector<named_value> key{};            ///< none of its macros differs from one of them
  /// The digests (watched_digest) that it may have; none if they are not known after all. Called
  /// once, before the program is compiled. Does not throw.
  std::function<std::vector<std::string>()> digests{};
  std::function<void()> differs{};  ///< called if it has another one. Does not throw
};

/// Attaches an expectation to a context: the first program of its configuration that tune::compile
/// gets for that context, on the thread that calls this, is compared with it (another thread may
/// compile another template at the same time). The latest 64 of a context are kept. A program that
/// fits several counts as right if it is right for one of them, and as unknown if it is for none.
/// Thread-safe.
void expect_program(const context& context, expected_program expected);

/// Compares a program that is about to be compiled with those that are expected of the context and
/// thread. Costs next to nothing while none is. Does not throw. Thread-safe.
void compare_with_expected(const context& context, const defines& macros,
                           const program_source& source) noexcept;

}  // namespace tune
