// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/store/database/function_identity.hpp"

namespace tune::detail {

class connection;

/// The functions that libtune_function lists, their fields in the order of their table's columns,
/// sorted by name and version. Those whose table does not have these columns are left out.
/// @param damaged  is increased for each that is left out
/// @throws SQLite::Exception
std::vector<function_identity> read_functions(connection& source, std::size_t& damaged);

}  // namespace tune::detail
