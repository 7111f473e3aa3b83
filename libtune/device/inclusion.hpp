// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Files that compilers read beside the text of a program.
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

/// The result of compiling: machine code, and the files that went into it.
struct compiled_program {
  std::vector<std::byte> binary;
  included_files included{};
};

/// False if nothing in a program's text and options can have its compiler read a file or one of the
/// headers. It is a quick way past all that concerns files: of true the compiler knows more.
bool may_include(const program_source& source);

/// True if a program's text reads files in ways that no compiler reports: #embed, .incbin, or
/// headers that were compiled before.
bool reads_untold(const program_source& source);

/// Returns the files with the digests of their content, each once.
/// @param paths  absolute, or relative to the current folder
/// @param since  when the compiler began; empty if one has been written later or cannot be read
included_files read_included(const std::vector<std::string>& paths,
                             std::filesystem::file_time_type since);

/// The same files with the content that they have now; empty if one cannot be read.
included_files read_again(std::span<const included_file> files);

/// The text of a file; empty (nullopt) if it is none, or cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& path);

/// Calls a function with each folder that options name by "-I folder" or "-Ifolder", and puts what
/// it returns in its place.
std::vector<std::string> with_include_folders(
    const std::vector<std::string>& options,
    const std::function<std::string(const std::string&)>& replace);

}  // namespace tune
