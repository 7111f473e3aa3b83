// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/base/error.hpp"

namespace SQLite {
class Exception;
}

namespace tune::detail {

/// The error for something that could not be done to a database, with its path, the reason and the
/// remedy.
database_error database_failure(const std::string& path, const std::string& attempt,
                                const std::string& reason, const std::string& remedy);

/// The same for what SQLite reports; the remedy follows from its code.
database_error database_failure(const std::string& path, const std::string& attempt,
                                const SQLite::Exception& failure);

/// Whether SQLite gave up because another connection held the database.
bool is_busy(const SQLite::Exception& failure) noexcept;

/// Whether SQLite could not make sense of the file.
bool is_damage(const SQLite::Exception& failure) noexcept;

}  // namespace tune::detail
