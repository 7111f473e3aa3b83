// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/json.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/files/lock_holder.hpp"

namespace tune::cli {

/// A search of a database that has begun and not ended, or was stopped and is being continued.
struct running_search {
  function_identity function{};
  std::int64_t id = 0;
  std::string arguments{};  ///< its key, for users
  device_identity device{};
  std::string started_at{};  ///< UTC
  std::string strategy{};    ///< empty if unknown
  trials_summary trials{};
  std::optional<std::size_t> configurations{};  ///< the size of its space, if noted earlier
  /// The process that holds the lock of the key. Empty for a process without a lock, such as with
  /// LIBTUNE_MODE=force, which counts as running while it stores trials.
  std::optional<lock_holder> process{};
  std::string budget{};  ///< LIBTUNE_BUDGET of that process, if readable
};

/// The searches of a database that run on this machine now, the earliest first. Of several
/// unfinished searches for one key only the latest can run.
/// @param path  absolute @throws database_error
std::vector<running_search> find_running(database_reader& database, const std::string& path);

/// The fields of a key in this order, from a text that has them sorted by name
/// (canonical_arguments); empty for any other text.
std::optional<std::string> canonical_key(const std::vector<field_description>& fields,
                                         const std::string& sorted);

/// A line about a search, or two for a terminal, without control characters.
/// @param now  seconds since 1970
std::string describe(const running_search& search, double now, bool two_lines);

/// The search as JSON.
detail::json to_json(const running_search& search);

}  // namespace tune::cli
