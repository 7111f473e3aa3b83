// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

namespace tune {

class tuning_database;

/// The database at a path, kept open between calls while it is the one that was used last, because
/// opening costs more than looking up. Null for an empty path. Thread-safe.
std::shared_ptr<tuning_database> open_database(const std::string& path);

}  // namespace tune
