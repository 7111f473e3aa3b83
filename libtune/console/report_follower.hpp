// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/settings.hpp"

namespace tune::detail {

/// Has the page that the settings name (tuning_settings::report) show the searches of a function,
/// anew every few seconds until some time after the end of this process: `tunedb report --follow`
/// writes it, a process of its own that reads the database and has the lowest priority. Started
/// with the first call for a page, by a thread of its own; a later call sends it the name of the
/// function. Where no tunedb is found there is one warning. Thread-safe.
void follow_in_report(const tuning_settings& settings, const function_identity& function) noexcept;

/// The path of the tunedb that is installed with this libtune, or called by its name; empty if
/// there is none. @param looked_at  gets the places
std::string find_tunedb(std::string& looked_at);

}  // namespace tune::detail
