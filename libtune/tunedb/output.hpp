// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/store/maintenance/database_content.hpp"

namespace tune::cli {

using json = nlohmann::ordered_json;

/// Writes lines of cells to standard output, the cells of a column under each other.
void print_table(const std::vector<std::vector<std::string>>& lines);

/// Writes a document to standard output; bytes that are not UTF-8 are replaced.
void print_json(const json& document);

json to_json(const value& v);
json to_json(const std::vector<named_value>& values);
json to_json(const device_identity& device);
/// null where there is none
json to_json(const std::optional<double>& number);

/// "GPU One (Some Platform, 535.104)"
std::string to_text(const device_identity& device);
/// "1.50 us", or a dash where there is none.
std::string time_text(const std::optional<double>& ns);
/// The fields as "a=1, b=2", or a dash where there are none.
std::string fields_text(const std::vector<named_value>& values);

}  // namespace tune::cli
