// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "libtune/extra/ahead/fleet.hpp"
#include "libtune/extra/ahead/fleet_content.hpp"
#include "libtune/extra/ahead/fleet_message.hpp"
#include "libtune/tune/settings.hpp"

namespace tune::detail {

/// The wait for a message, between two looks at whether the call is stopped.
inline constexpr std::chrono::milliseconds between_looks{100};

/// The call of pretune_with_ranks on one rank. All that it refers to outlives it.
struct fleet_call {
  rank_links& ranks;
  const remote_tuner& tune;
  std::span<const pretuning_item> items;
  std::span<const device> devices;
  const pretuning_options& options;
  const tuning_refusal& refuses;
  const tuning_settings& settings;
  const fleet_database& database;
  std::chrono::milliseconds longest_silence;

  bool is_stopped() const { return ranks.is_left_out || (options.stop && options.stop()); }
  /// The devices that this rank may use.
  rank_devices own() const {
    rank_devices all{.machine = this_machine(), .devices = {}};
    for (const device& each : devices) all.devices.push_back(each.info());
    return all;
  }
};

/// The part of the rank that leads.
/// @throws no_device_error if no rank has a device; what pretune throws
std::vector<pretuning_result> lead_ranks(const fleet_call& call);

/// The part of a rank that works for another one, which leads.
/// @param leader  the number of that one
/// @returns empty if that one has been lost, or this call is stopped
std::optional<std::vector<pretuning_result>> serve_leader(const fleet_call& call,
                                                          std::size_t leader);

}  // namespace tune::detail
