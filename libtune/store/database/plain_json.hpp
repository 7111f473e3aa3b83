// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune::detail {

/// What value_json.hpp writes, for those who make larger documents. Bytes that are no UTF-8 are for
/// the dump to replace. Not a public header.
nlohmann::ordered_json plain_json(const value& v);
nlohmann::ordered_json plain_json(const std::vector<named_value>& values);

}  // namespace tune::detail
