// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the reports that are JSON have in common. Not for users: it includes nlohmann-json.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "libtune/tune/observer.hpp"

namespace tune::detail {

/// Null for NaN and infinity, which JSON does not have.
nlohmann::ordered_json to_json(double number);
nlohmann::ordered_json to_json(const value& v);
nlohmann::ordered_json to_json(const std::vector<named_value>& values);
nlohmann::ordered_json to_json(const device_identity& device);
nlohmann::ordered_json to_json(const trial& item);

}  // namespace tune::detail
