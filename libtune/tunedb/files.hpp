// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tune::cli {

/// A file's bytes; those of standard input for "-". @throws error that names the file
std::string read_file(const std::string& path);

/// The target of an export: the file at the end of all links, or "-" for standard output under any
/// name. With a backup it has to be a file.
/// @param force  also over a file that is no export of libtune
/// @throws error if the file is the database, belongs to it, or would be lost
std::string export_target(const std::string& path, const std::string& database, bool is_backup,
                          bool force);

/// Writes to standard output for "-", into a pipe or terminal as it comes, and else a file that is
/// replaced as a whole. @throws error
void write_file(const std::string& path, const std::string& content);

}  // namespace tune::cli
