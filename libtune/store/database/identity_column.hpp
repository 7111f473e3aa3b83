// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device_identity.hpp"

namespace tune {

/// One field of a device's identity as a column of the tuning database.
struct identity_column {
  const char* name;  ///< "device_clock_mhz"; stored, so never renamed
  bool capability;   ///< whether it decides what can run, or only how fast
  /// The field, a string or a signed integer.
  value (*get)(const device_identity& device);
  /// @throws type_error if the value is of another type
  void (*set)(device_identity& device, const value& v);
};

/// All fields, the weightiest first: the capabilities, then name and platform, then the rest.
std::span<const identity_column> identity_columns() noexcept;

/// The column as a STRICT table declares it; unknown is the default.
std::string identity_column_sql(const identity_column& column);

/// The columns in which two identities differ, the weightiest last.
std::vector<std::string> differing_columns(const device_identity& a, const device_identity& b);

/// Unambiguous text of an identity: equal texts mean equal identities.
std::string canonical_text(const device_identity& device);

}  // namespace tune
