// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {

/// The origin of a result in a database of pulled results.
struct result_provenance {
  std::string store{};        ///< the URL of the shared store, for people
  std::string pushed_by{};    ///< the user on the server
  std::string pushed_from{};  ///< the host
  std::string pushed_at{};    ///< UTC
  std::string pulled_at{};    ///< UTC; set when it is stored
};

/// A result and its source.
struct sourced_result {
  function_identity function{};
  record_key key{};
  result_provenance source{};
};

/// Stores the sources of results that the database has, in one transaction.
/// @throws database_error
void note_sources(const std::string& path, const std::vector<sourced_result>& results);

/// Returns the source of a result; empty if it was not pulled, or the source is unknown.
/// @throws database_error if the database cannot be read
std::optional<result_provenance> find_source(const std::string& path,
                                             const function_identity& function,
                                             const record_key& key);

}  // namespace tune
