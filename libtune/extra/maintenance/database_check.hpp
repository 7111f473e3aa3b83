// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The result of one part of a check.
struct check_finding {
  std::string subject;  ///< a word such as "integrity" or "permissions"
  bool good = false;
  std::string text;  ///< the finding, with the remedy if there is a fault
};

/// Checks a database without changing it: its marks, its pages and references (by SQLite), the
/// checksum of every row, the type of every value, the permissions of the file and its folder, and
/// the kind of file system. A missing file is not a fault.
std::vector<check_finding> check_database(const std::string& path);

}  // namespace tune
