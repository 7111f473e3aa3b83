// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// JSON of functions and devices: exact for exported databases and missed keys, plain for reports.
#pragma once

#include "libtune/base/json.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/store/database/function_identity.hpp"

namespace tune::detail {

/// {"name", "platform", "version"}
json plain_json(const device_identity& device);

/// {"name", "version", "key_fields", "value_fields"}
json exact_json(const function_identity& function);
/// The whole identity, by the names of its columns.
json exact_json(const device_identity& device);

/// The function of an object, which may have other members. @throws argument_error
function_identity function_from_json(const input& object);
/// The device that exact_json() wrote. @throws argument_error
device_identity device_from_json(const input& object);

}  // namespace tune::detail
