// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
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

}  // namespace tune
