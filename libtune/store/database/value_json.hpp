// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune {

/// A value as JSON for other programs to read: a number that JSON does not have is its name
/// ("inf"), none is null, and bytes that are no UTF-8 are replaced. What has to be read back as it
/// was is written by to_exchange_text.
std::string to_json_text(const value& v);

/// Fields as one JSON object, in their order: {"wgs": 64}.
std::string to_json_text(const std::vector<named_value>& values);

}  // namespace tune
