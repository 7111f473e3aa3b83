// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/fleet.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/extra/ahead/fleet_call.hpp"
#include "libtune/store/database/tuning_database.hpp"

namespace tune {
namespace detail {
namespace {

std::vector<pretuning_result> run(const fleet_call& call) {
  rank_links& ranks = call.ranks;
  for (std::size_t leader = 0; leader < ranks.rank && !call.is_stopped(); ++leader) {
    if (ranks.links[leader]->is_lost()) continue;
    if (auto results = serve_leader(call, leader)) return *std::move(results);
    if (call.is_stopped()) break;
    log(log_level::warning,
        fmt::format("the leading rank {} has been lost: the next one leads", leader));
  }
  if (!call.is_stopped()) return lead_ranks(call);
  pretuning_options silent = call.options;
  silent.listener = nullptr;
  silent.stop = [] { return true; };
  return pretune_with(call.tune, call.items, call.devices, silent, call.refuses);
}

}  // namespace
}  // namespace detail

namespace {

std::chrono::milliseconds longest_silence(const pretuning_options& options,
                                          const tuning_settings& settings) {
  if (options.longest_silence) return *options.longest_silence;
  constexpr std::chrono::seconds least(3);
  return std::max<std::chrono::milliseconds>(
      3 * settings.search.watchdog.floor.value_or(default_trial_time), least);
}

/// The hardware name of each device, unique among all ranks of its machine.
std::vector<std::string> hardware_names(const rank_devices& of) {
  std::vector<std::string> names;
  for (const device_info& info : of.devices) {
    const device_hardware& hardware = info.hardware;
    const std::string base = of.machine + '\n' + info.backend + '\n' + info.identity.platform +
                             '\n' + info.identity.name + '\n' + hardware.pci_address +
                             hardware.uuid + '\n';
    std::size_t number = 0;
    while (std::ranges::find(names, base + std::to_string(number)) != names.end()) ++number;
    names.push_back(base + std::to_string(number));
  }
  return names;
}

}  // namespace

std::vector<std::vector<std::size_t>> divide_devices(std::span<const rank_devices> ranks) {
  std::vector<std::vector<std::size_t>> places(ranks.size());
  std::vector<std::vector<std::string>> names;
  for (const rank_devices& rank : ranks) names.push_back(hardware_names(rank));
  std::set<std::string> given;
  for (const auto& of_rank : names) {
    for (const std::string& name : of_rank) {
      if (!given.insert(name).second) continue;
      std::optional<std::size_t> poorest;
      std::size_t place_there = 0;
      for (std::size_t rank = 0; rank < names.size(); ++rank) {
        const auto found = std::ranges::find(names[rank], name);
        if (found == names[rank].end()) continue;
        if (poorest && places[*poorest].size() <= places[rank].size()) continue;
        poorest = rank;
        place_there = static_cast<std::size_t>(found - names[rank].begin());
      }
      places[*poorest].push_back(place_there);
    }
  }
  std::map<std::string, std::size_t> sharing;  // ranks of a machine without a device of their own
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!places[rank].empty() || names[rank].empty()) continue;
    places[rank].push_back(sharing[ranks[rank].machine]++ % names[rank].size());
  }
  return places;
}

std::vector<pretuning_result> pretune_with_ranks(communicator& ranks, const remote_tuner& tune,
                                                 std::span<const pretuning_item> items,
                                                 std::span<const device> devices,
                                                 const pretuning_options& options,
                                                 const tuning_refusal& refuses) {
  detail::rank_links& links = ranks.links();
  try {
    tuning_options given = options.tuning;
    given.given_by = option_source::command;
    const tuning_settings settings = resolve_settings(given);
    if (settings.database.empty()) {
      throw argument_error("there is no place for the results; name a database");
    }
    // Each rank stores results, not only the leading one.
    tuning_database(settings.database).require_writable();
    const detail::fleet_database database(settings.database);
    auto results = detail::run({.ranks = links,
                                .tune = tune,
                                .items = items,
                                .devices = devices,
                                .options = options,
                                .refuses = refuses,
                                .settings = settings,
                                .database = database,
                                .longest_silence = longest_silence(options, settings)});
    if (links.is_left_out || (options.stop && options.stop())) {
      for (const auto& link : links.links) link->close();
    }
    return results;
  } catch (...) {
    // The others would wait for ever.
    for (const auto& link : links.links) link->close();
    throw;
  }
}

}  // namespace tune
