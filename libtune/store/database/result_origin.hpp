// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune {

/// With what a result was measured, as the trial says that found it.
struct result_origin {
  search_identity search{};
  std::string searched_at{};            ///< when that search was started, UTC
  std::vector<std::string> programs{};  ///< digests of what was compiled for the trial, in order
};

namespace detail {

class connection;

/// The origin of a result: the latest trial of its key that measured these values. None if there
/// is no such trial, as for an imported result, or if its rows are damaged.
/// Throws SQLite::Exception for what SQLite reports.
std::optional<result_origin> read_origin(connection& source, const function_identity& function,
                                         const record_key& key,
                                         const std::vector<named_value>& values);

}  // namespace detail
}  // namespace tune
