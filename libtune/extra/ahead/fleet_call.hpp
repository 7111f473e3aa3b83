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

/// The longest wait for a message between two checks of a stop request.
inline constexpr std::chrono::milliseconds between_looks{100};

/// The call of pretune_with_ranks on one rank. All references must outlive it.
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

/// Runs the leading rank.
/// @throws no_device_error if no rank has a device; what pretune throws
std::vector<pretuning_result> lead_ranks(const fleet_call& call);

/// Runs a rank that works for the leading rank.
/// @param leader  the number of the leading rank
/// @returns empty if the leading rank has been lost, or this call is stopped
std::optional<std::vector<pretuning_result>> serve_leader(const fleet_call& call,
                                                          std::size_t leader);

}  // namespace tune::detail
