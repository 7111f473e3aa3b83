// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Texts in the rows of a shared store.
#pragma once

#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"

namespace tune::detail {

/// The SHA-256 of a text, in hexadecimal digits.
std::string digest_of(const std::string& text);
/// The name of this host; empty if it is unknown.
std::string host_name();
/// The text, or its hexadecimal digits if PostgreSQL cannot store it.
std::string utf8_or_hex(const std::string& text);

/// The primary key of a result: function, key and device.
std::vector<std::string> row_key(const function_identity& function, const record_key& key);

/// The values of libtune.result without pushed_by and pushed_at, in the order of the columns:
/// row_key, arguments, device_name, device_version, score_ns, tuned_at, document, pushed_from.
/// @param one  a function with one result
/// @throws argument_error without a measured result; shared_store_error if the document is too
///         large
std::vector<std::string> row_of(const function_content& one);

/// The columns of row_of.
inline constexpr const char* result_columns =
    "function, key, device, arguments, device_name, device_version, score_ns, tuned_at, document, "
    "pushed_from";

}  // namespace tune::detail
