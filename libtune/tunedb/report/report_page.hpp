// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "libtune/tunedb/report/report_data.hpp"

namespace tune::cli {

/// True if the page with its scripts is a part of this program: d3 was there when it was built.
bool has_report_page() noexcept;

/// Throws the error that says what to install if it is not.
void require_report_page();

/// The data as text that may stand inside a script element: no "<" in it, bytes that are not UTF-8
/// replaced.
std::string report_text(const report_json& data);

/// The Content-Security-Policy of the page: only its own scripts and styles, by their digests, and
/// no network.
std::string report_policy();

/// One page with all that it needs. @param text  of report_text
std::string report_page(std::string_view text);

}  // namespace tune::cli
