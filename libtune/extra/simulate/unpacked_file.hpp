// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace tune::detail {

/// The contents of a file, unpacked if it is gzip.
/// @param most_bytes  the greatest size of the unpacked text
/// @throws error if the file cannot be read or is empty; argument_error if it is damaged or too
/// large
std::string read_unpacked(const std::filesystem::path& path, std::size_t most_bytes);

}  // namespace tune::detail
