// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "libtune/operation/operation.hpp"

namespace tune {

/// Has the program dot, of Graphviz, draw an operation to a file; see to_dot.
/// @param drawn  as to_dot
/// @param path   the file, in SVG
/// @param name   of the operation in the drawing
/// @throws error if dot is not on the PATH, or fails
void write_svg(const operation& drawn, const std::filesystem::path& path,
               const std::string& name = "operation");

}  // namespace tune
