// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libtune/store/database/database_place.hpp"

namespace tune {

class tuning_database;
class tuning_layers;

/// The database at a path, kept open between calls while it is the one that was used last, because
/// opening costs more than looking up. Null for an empty path. Thread-safe.
std::shared_ptr<tuning_database> open_database(const std::string& path);

/// The user's database over those of the system, kept open in the same way. A path that can name no
/// database of the system costs one warning.
/// @param user    a path; empty if there is none
/// @param access  to the user's database; those of the system are only ever read
/// @param shared  the path of a database between the two that is only read, and that others may
///                write meanwhile; empty if there is none
std::shared_ptr<const tuning_layers> open_layers(
    const std::string& user, const std::vector<std::string>& systems,
    database_access access = database_access::read_write, const std::string& shared = {});

}  // namespace tune
