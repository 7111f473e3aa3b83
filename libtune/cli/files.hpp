// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tune::cli {

/// A file's bytes; those of standard input for "-". @throws error that names the file
std::string read_file(const std::string& path);

/// Writes to standard output for "-", else a file that is replaced as a whole. @throws error
void write_file(const std::string& path, const std::string& content);

}  // namespace tune::cli
