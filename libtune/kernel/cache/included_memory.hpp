// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The files that programs were compiled from, as reported by their compilers. The key of a program
// (program_key, and the current folder) leads to lists of files with the digests of their content,
// and of places in the searched folders (-I, those of the files, the current one) without a file of
// the same name. A list whose files are unchanged, and whose places are still empty, leads to the
// binary. This is the direct mode of ccache. Lists are kept in the process, and beside the binaries
// in program_cache().
//
// A file that NVRTC missed in a __has_include is not recorded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/store/cache/binary_cache.hpp"

namespace tune {

/// Returns the key in a cache of the binary of a program that may include files: program_key with
/// the content of the files. Empty if no known list of its files is unchanged. Thread-safe.
std::optional<binary_key> present_key(const context& context, const program_source& source);

/// Returns the files of a program that may include some, with their present content; those of the
/// unchanged list, else of the latest. Empty if no list is known. Thread-safe.
included_files present_included(const context& context, const program_source& source);

/// The result of remember_included, to be stored with a binary.
struct remembered_files {
  binary_key key;             ///< of the binary
  binary_cache::entry lists;  ///< of the program
};

/// Remembers the files that a program was compiled from in this process. Empty if the compiler did
/// not report them: this is logged once, and the binary must not be stored. Thread-safe.
std::optional<remembered_files> remember_included(const context& context,
                                                  const program_source& source,
                                                  const included_files& files);

}  // namespace tune
