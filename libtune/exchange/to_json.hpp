// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the reports that are JSON have in common; store/plain_json.hpp has values. Not for users: it
// includes nlohmann-json.
#pragma once

#include <nlohmann/json.hpp>

#include "libtune/tune/observer.hpp"

namespace tune::detail {

/// Null for NaN and infinity, which JSON does not have.
nlohmann::ordered_json to_json(double number);
nlohmann::ordered_json to_json(const device_identity& device);
nlohmann::ordered_json to_json(const trial& item);

}  // namespace tune::detail
