// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/json.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/match.hpp"

namespace tune {

/// One field of a device's identity as a column of the tuning database.
struct identity_column {
  const char* name;  ///< "device_clock_mhz"; stored, so never renamed
  bool capability;   ///< true if it decides what can run, false if only how fast
  /// The field, a string or a signed integer.
  value (*get)(const device_identity& device);
  /// @throws type_error if the value is of another type
  void (*set)(device_identity& device, const value& v);
};

/// All fields, the most important first: the capabilities, then name and platform, then the rest.
std::span<const identity_column> identity_columns() noexcept;

/// Returns the declaration of a column in a STRICT table; the default means unknown.
std::string identity_column_sql(const identity_column& column);

/// Returns the columns in which two identities differ, the most important last.
std::vector<std::string> differing_columns(const device_identity& a, const device_identity& b);

/// Unambiguous text of an identity: equal texts mean equal identities.
std::string canonical_text(const device_identity& device);

}  // namespace tune

namespace tune::detail {

// JSON of functions and devices: exact for exported databases and missed keys, plain for reports.

/// {"name", "platform", "version"}
json plain_json(const device_identity& device);

/// {"name", "version", "key_fields", "value_fields"}
json exact_json(const function_identity& function);
/// The whole identity, by the names of its columns.
json exact_json(const device_identity& device);

/// Reads the function of an object, which may have other members. @throws argument_error
function_identity function_from_json(const input& object);
/// Reads a device written by exact_json(). @throws argument_error
device_identity device_from_json(const input& object);

}  // namespace tune::detail

namespace tune {

/// A device that replaces another.
struct nearest_match {
  std::size_t index = 0;                ///< into the candidates
  match_step step = match_step::exact;  ///< the difference between the devices
  std::vector<std::string> relaxed{};   ///< the differing columns, as in differing_columns
};

/// Returns the step by which the candidate differs from the wanted device.
match_step step_between(const device_identity& candidate, const device_identity& wanted);

/// Ranks the candidates from the nearest to the farthest. The criteria, in order:
///  1. the step;
///  2. the length of the beginning that the architecture shares with the wanted one ("sm_90"), the
///     longer the better;
///  3. the same of the name;
///  4. among shares of one device, the ratio of the numbers of compute units, the smaller the
///  better;
///  5. the number of columns that differ, the fewer the better;
///  6. the newer driver, by the numbers in its version;
///  7. the columns in their order, so that the answer does not depend on the candidates' order.
/// Equal candidates keep their order.
std::vector<nearest_match> rank_nearest(std::span<const device_identity> candidates,
                                        const device_identity& wanted);

}  // namespace tune
