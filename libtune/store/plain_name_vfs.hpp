// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The name of a VFS of SQLite that is the default one but for one thing: it takes an absolute path
/// as it is. SQLite's own looks for symbolic links on the way and resolves them, and so would turn
/// /proc/self/fd/7/tuning.db, which is the file in the folder that is open, into the file at the
/// path that the folder has at the moment. Thread-safe. Null if SQLite refuses.
const char* plain_name_vfs();

}  // namespace tune::detail
