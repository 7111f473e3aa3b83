// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// One thing that a check looked at.
struct check_finding {
  std::string subject;  ///< a word such as "integrity" or "permissions"
  bool good = false;
  std::string text;  ///< what was found, and what to do where that is not good
};

/// Looks at all that can be wrong with a database, and changes nothing: whether it is one, SQLite's
/// own check of its pages and references, the checksum of every row, whether every value can be
/// read as the type of its field, who may read and write the file and its folder, and whether the
/// file system is one that SQLite can rely on. A file that is not there is no fault.
std::vector<check_finding> check_database(const std::string& path);

}  // namespace tune
