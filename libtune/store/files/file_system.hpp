// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Writes a file so that readers see either the old or the whole new content, even after a loss of
/// power: under a temporary name beside it, synced, then renamed. Readable by its owner only.
/// @throws error that names the file and the reason; the old file is then unchanged
void replace_file(const std::string& path, std::string_view content);

/// Like replace_file(), with a function that fills the empty temporary file, given its name.
void replace_file_by(const std::string& path, const std::function<void(const std::string&)>& fill);

/// Returns libtune's folder for files that can be made again: libtune in XDG_CACHE_HOME, else in
/// HOME/.cache. Empty if neither variable has an absolute path.
std::optional<std::string> user_cache_folder();

}  // namespace tune

namespace tune::detail {

/// Returns the kind of file system, in the numbers of statfs, of a path or of the nearest existing
/// folder above it. Empty if the system does not report it.
std::optional<long> file_system_of(const std::string& path);

/// True for file systems that machines share. On these, the locks that SQLite needs are slow or
/// missing, and a database that several machines write is lost sooner or later.
bool is_network_file_system(long kind) noexcept;

/// Returns a folder that survives restarts, for this machine and this user only:
/// /var/tmp/libtune-<user number>, created if needed. Empty if it cannot be created.
std::optional<std::string> node_local_folder();

}  // namespace tune::detail
