// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/kernel/kernel_source.hpp"

namespace tune {

/// Returns the lines of the named source that a compiler's log mentions, in ascending order without
/// duplicates. Understands "name:line" and "name(line)".
std::vector<std::size_t> lines_in_log(std::string_view source_name, std::string_view log);

/// Returns the lines of the source's files that the log mentions, with file and number, at most
/// ten, for a message; empty if the log names none. NVIDIA's OpenCL compiler ignores #line and
/// calls every text "<kernel>".
/// @param lines_before  the number of lines before the source in the compiled text
std::string quote_source_lines(const resolved_source& source, std::string_view log,
                               std::size_t lines_before = 0);

/// Returns the first error in a compiler's log on one line, in the same form for all compilers:
/// "bad.kernel:12:5: error: expected ';'"; the first line of a log without an error. "<kernel>" is
/// replaced by the file of the line.
/// @param lines_before  as above
std::string first_error(const resolved_source& source, std::string_view log,
                        std::size_t lines_before = 0);

}  // namespace tune
