// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "libtune/base/error.hpp"

namespace SQLite {
class Exception;
}

namespace tune::detail {

/// A database_error with separate texts for the attempt, and for the database with the fault.
class database_fault : public database_error {
 public:
  database_fault(const std::string& text, std::string fault)
      : database_error(text), fault_(std::move(fault)) {}

  const std::string& fault() const noexcept { return fault_; }

 private:
  std::string fault_;
};

/// Warns of a failure, once for each fault of a database in a process; later failures with the same
/// reason are logged for debugging. Thread-safe.
void warn_of_failure(const database_error& failure) noexcept;

/// Returns the error for a failed attempt, with the path of the database, the reason and the
/// remedy.
database_fault database_failure(const std::string& path, const std::string& attempt,
                                const std::string& reason, const std::string& remedy);

/// The same for an error of SQLite; its code determines the remedy.
database_fault database_failure(const std::string& path, const std::string& attempt,
                                const SQLite::Exception& failure);

/// True if SQLite gave up because another connection locked the database.
bool is_busy(const SQLite::Exception& failure) noexcept;

/// True if SQLite could not interpret the file.
bool is_damage(const SQLite::Exception& failure) noexcept;

/// True if a work_limit ended a statement.
bool is_interruption(const SQLite::Exception& failure) noexcept;

}  // namespace tune::detail
