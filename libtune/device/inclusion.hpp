// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Files that compilers read in addition to the text of a program.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/kernel.hpp"

namespace tune {

/// The result of compiling: machine code, and the files that it was compiled from.
struct compiled_program {
  std::vector<std::byte> binary;
  included_files included{};
};

/// False if a program's text and options cannot make its compiler read a file or one of the
/// headers. A fast test to skip all work for files; if it returns true, only the compiler knows.
bool may_include(const program_source& source);

/// True if a program's text reads files in ways that no compiler reports: #embed, .incbin, or
/// precompiled headers.
bool reads_untold(const program_source& source);

/// Returns the files with the digests of their content, without duplicates.
/// @param paths  absolute, or relative to the current folder
/// @param since  the start of the compiler; the result is empty if a file was written later or
/// cannot be read
included_files read_included(const std::vector<std::string>& paths,
                             std::filesystem::file_time_type since);

/// Returns the same files with their present content; empty if one cannot be read.
included_files read_again(std::span<const included_file> files);

/// Returns the text of a file; empty (nullopt) if it cannot be read or is not a file.
std::optional<std::string> read_text(const std::filesystem::path& path);

/// Calls a function with each folder in options "-I folder" or "-Ifolder", and replaces the folder
/// by the result.
std::vector<std::string> with_include_folders(
    const std::vector<std::string>& options,
    const std::function<std::string(const std::string&)>& replace);

}  // namespace tune
