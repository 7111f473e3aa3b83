// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The files that programs were compiled from, as their compilers have told. The key of a program
// (program_key, and the current folder) leads to lists of files with the digests of their content,
// and of places in the folders that are searched (-I, those of the files, the current one) where
// there was no file of the same name; a list whose files are all as they were, and whose places are
// still empty, leads to the binary. This is the direct mode of ccache. Lists are kept in the
// process, and beside the binaries in program_cache().
//
// A file that NVRTC looked for by __has_include and did not find is not noticed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/store/cache/binary_cache.hpp"

namespace tune {

/// Returns the key that the binary of a program has in a cache: program_key, and for a program that
/// may include files their content, too. Empty if no known list of its files is as it was.
/// Thread-safe.
std::optional<binary_key> present_key(const context& context, const program_source& source);

/// Returns the files of a program that may include some, with the content that they have now; those
/// of the list that is as it was, else of the latest. Empty if no list is known. Thread-safe.
included_files present_included(const context& context, const program_source& source);

/// The result of remember_included, to be kept with a binary.
struct remembered_files {
  binary_key key;             ///< of the binary
  binary_cache::entry lists;  ///< of the program
};

/// Remembers the files that a program was compiled from in this process. Empty if the compiler did
/// not tell: the log says so once, and no binary may be kept. Thread-safe.
std::optional<remembered_files> remember_included(const context& context,
                                                  const program_source& source,
                                                  const included_files& files);

}  // namespace tune
