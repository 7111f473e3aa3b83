// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Writes a file so that its readers see the old one or the whole new one, also after a loss of
/// power: under a temporary name beside it, synced, then renamed. For its owner alone to read.
/// @throws error that names the file and the reason; what was there is as it was then
void replace_file(const std::string& path, std::string_view content);

/// The same, with a step that fills the temporary file, which exists and is empty, by its name.
void replace_file_by(const std::string& path, const std::function<void(const std::string&)>& fill);

/// libtune's folder for files that can be made again: libtune in XDG_CACHE_HOME, else in
/// HOME/.cache. Empty if neither variable holds an absolute path.
std::optional<std::string> user_cache_folder();

}  // namespace tune

namespace tune::detail {

/// The kind of file system, as statfs numbers them, of a path or of the nearest folder above it
/// that exists. Empty if the system does not report it.
std::optional<long> file_system_of(const std::string& path);

/// True for file systems that machines share. There the locks that SQLite needs are slow or
/// missing, and a database that several machines write is lost sooner or later.
bool is_network_file_system(long kind) noexcept;

/// A folder that outlives restarts, on this machine alone and of this user alone:
/// /var/tmp/libtune-<user number>, made if necessary. Empty if it cannot be made.
std::optional<std::string> node_local_folder();

}  // namespace tune::detail
