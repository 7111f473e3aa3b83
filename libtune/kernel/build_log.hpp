// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/kernel/kernel_source.hpp"

namespace tune {

/// The lines of the named source that a compiler's log speaks of, each once, in ascending order.
/// Understands "name:line" and "name(line)".
std::vector<std::size_t> lines_in_log(std::string_view source_name, std::string_view log);

/// The lines of the source's files that the log speaks of, with file and number, at most ten, for a
/// message; empty if the log names none. NVIDIA's OpenCL compiler ignores #line and calls every
/// text
/// "<kernel>".
/// @param lines_before  how many lines stood before the source in what was compiled
std::string quote_source_lines(const resolved_source& source, std::string_view log,
                               std::size_t lines_before = 0);

/// The first error in a compiler's log, in the same manner for all compilers, on one line:
/// "bad.kernel:12:5: error: expected ';'"; the first line of a log without an error. What the log
/// calls "<kernel>" becomes the file that the line comes from.
/// @param lines_before  as above
std::string first_error(const resolved_source& source, std::string_view log,
                        std::size_t lines_before = 0);

}  // namespace tune
