// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace tune::detail {

/// The kind of file system, as statfs numbers them, of a path or of the nearest folder above it
/// that exists. Empty if the system does not tell.
std::optional<long> file_system_of(const std::string& path);

/// Whether files of this kind of file system are shared by machines. There the locks that SQLite
/// needs are slow or missing, and a database that several machines write is lost sooner or later.
bool is_network_file_system(long kind) noexcept;

/// A folder that outlives restarts, on this machine alone and of this user alone:
/// /var/tmp/libtune-<user number>, made if need be. Empty if there can be none.
std::optional<std::string> node_local_folder();

/// Where to keep a database for which a folder was not chosen by hand: the folder itself or, if
/// that is on the network, the node-local one, which is told once. If there is none it stays the
/// folder, with a warning: results are kept somewhere in any case.
/// @param kind  of the folder's file system
std::string off_the_network(const std::string& folder, std::optional<long> kind);
/// The same for the folder as it is.
std::string off_the_network(const std::string& folder);

}  // namespace tune::detail
