// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libtune/store/function_identity.hpp"
#include "libtune/store/record.hpp"
#include "libtune/store/stored_trial.hpp"

namespace tune::detail {

class connection;

/// The trials for exactly this key that ended with one of these outcomes and were tried, in
/// searches of the same stage with the same compiler and libtune, in whatever space: the latest of
/// each configuration. Throws SQLite::Exception for what SQLite reports.
std::vector<stored_trial> read_poisonous_trials(connection& source,
                                                const function_identity& function,
                                                const record_key& key,
                                                const search_identity& identity,
                                                std::span<const std::string> outcomes);

}  // namespace tune::detail
