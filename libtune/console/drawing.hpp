// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "libtune/operation/operation.hpp"

namespace tune {

/// Returns a drawing of an operation in the DOT language of Graphviz. Each operation is a box with
/// its parameters; a sequence is a box around its children. An operation's box contains its slots
/// with type and shape, the padded shape if it differs, and, for a root slot, its bytes. A compound
/// is an oval, and an alias a folder. Solid arrows lead from the operation that runs first, through
/// a compound, to the later ones; dotted arrows likewise join slots that are bound to the same
/// memory; dashed lines lead from an alias to the slots in its memory. Equal operations give equal
/// text.
/// @param drawn  the operation or sequence; its slots need not be bound
/// @param name   of the operation in the drawing
std::string to_dot(const operation& drawn, const std::string& name = "operation");

/// Draws an operation to a file by the program dot of Graphviz; see to_dot.
/// @param drawn  as to_dot
/// @param path   the file, in SVG
/// @param name   of the operation in the drawing
/// @throws error if dot is not on the PATH, or fails
void write_svg(const operation& drawn, const std::filesystem::path& path,
               const std::string& name = "operation");

}  // namespace tune
