// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "libtune/tunedb/report/report_data.hpp"

namespace tune::cli {

/// True if this program contains the page with its scripts: d3 was available at build time.
bool has_report_page() noexcept;

/// Throws an error that names the package to install, if it does not.
void require_report_page();

/// The Content-Security-Policy of the page: only its own scripts and styles, by their digests, and
/// no network.
std::string report_policy();

/// A complete page. @param text  of report_data
std::string report_page(std::string_view text);

/// Writes a complete page part by part. @param put_data  writes the data between the parts
void write_report_page(const detail::text_sink& put, const std::function<void()>& put_data);

}  // namespace tune::cli
