// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The permitted uses of the file of a tuning database.
enum class database_access : std::uint8_t {
  read_write,  ///< everything
  read_only,   ///< nothing is written, also no journal; others may write meanwhile
  immutable,   ///< the same without any lock: a file that nobody changes, as on a read-only medium
};

/// The files that hold the results of a database.
struct database_place {
  std::string path;      ///< the file in which results are stored
  std::string shared{};  ///< a file that is read beneath it and never written; empty if none
};

/// Returns the files of the database of a path: the path itself or, if that is on the network, a
/// file of this machine that outlives restarts (detail::node_local_folder), named after the path,
/// over the file at the path. If this machine has no such folder it is the path all the same:
/// results are kept somewhere in any case. Either costs one warning. Looks at a path the first time
/// that a process asks for it. Thread-safe. @param path  may be empty, and is then returned
database_place place_database(const std::string& path);

namespace detail {

/// The same for a path on a file system of this kind.
database_place place_database(const std::string& path, std::optional<long> kind);

}  // namespace detail
}  // namespace tune
