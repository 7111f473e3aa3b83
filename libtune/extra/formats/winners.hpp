// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/store/database/function_identity.hpp"

namespace tune {

/// The best tuning of a key on the devices with one name.
struct winner {
  std::string device{};               ///< the name of the device
  std::string platform{};             ///< the platform of the device that measured it
  std::string driver{};               ///< its driver version
  std::vector<named_value> key{};     ///< in the order of function_identity::key_fields
  std::vector<named_value> tuning{};  ///< in the order of function_identity::value_fields
  std::optional<double> time_ns{};    ///< empty if it was not measured
};

/// The winners of a function, for use in programs without a database.
struct winner_table {
  function_identity function{};
  std::vector<winner> winners{};  ///< by device, then key; each pair once
  /// The tuning for all others: the winner with the least average cost over all devices and keys,
  /// by the stored trials (geometric mean of the time relative to the winner's). A key for which a
  /// tuning was not measured counts as four times the time.
  std::vector<named_value> otherwise{};
};

/// The winners of a function: its results, without priors. Of two devices with one name and
/// different drivers, the one preferred by wins_over().
/// @throws argument_error without results
winner_table winners_of(const function_content& content);

/// A C++20 header that compiles alone: for each function a namespace with the structs key and
/// tuning, the array winners, find(device, key), lookup(device, key), which falls back to
/// default_tuning, and lookup(key) for the device selected by the build. All are constexpr.
/// @throws argument_error if two functions would share a namespace
std::string to_header(std::span<const winner_table> tables);

/// One JSON object, for other programs:
///
///   {"format": "libtune winners", "format_version": 1, "functions": [{
///      "function": "blur.autotune", "version": 3, "default": {"wgs": 64},
///      "winners": [{"device": ..., "platform": ..., "driver": ..., "key": {"radius": 2},
///                   "tuning": {"wgs": 64}, "time_ns": 53100.0}]}]}
///
/// time_ns is null if the result was not measured.
std::string to_winners_json(std::span<const winner_table> tables);

}  // namespace tune
