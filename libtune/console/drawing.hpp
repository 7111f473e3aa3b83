// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "libtune/operation/operation.hpp"

namespace tune {

/// A drawing of an operation in the DOT language of Graphviz. Each operation is a box with its
/// parameters, sequences around what they run; in it each slot with its type and shape, the padded
/// shape where it differs, and, for a root slot, its bytes. A compound is an oval and an alias a
/// folder. Solid arrows lead from the operation that runs first, through a compound, to the later
/// ones; dotted arrows likewise join slots to which the same memory is bound; dashed lines lead
/// from an alias to what lies in its memory. Equal operations give equal text.
/// @param drawn  the operation or sequence; its slots need not be bound
/// @param name   of the operation in the drawing
std::string to_dot(const operation& drawn, const std::string& name = "operation");

/// Has the program dot, of Graphviz, draw an operation to a file; see to_dot.
/// @param drawn  as to_dot
/// @param path   the file, in SVG
/// @param name   of the operation in the drawing
/// @throws error if dot is not on the PATH, or fails
void write_svg(const operation& drawn, const std::filesystem::path& path,
               const std::string& name = "operation");

}  // namespace tune
