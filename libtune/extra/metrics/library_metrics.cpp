// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/library_metrics.hpp"

#include <array>
#include <utility>

#include "libtune/base/library_version.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/extra/behind/tuning_behind.hpp"
#include "libtune/extra/metrics/key_tally.hpp"

namespace tune::detail {
namespace {

void add_seal(metric_page& to) {
  const seal_summary breaches = seal_report();
  for (std::size_t i = 0; i < sealed_actions; ++i) {
    to.counter("libtune_seal_breaches_total",
               "Actions of sealed threads that a seal forbids; tune: calls of autotuners.",
               {{"action", sealed_action_name(static_cast<sealed_action>(i))}},
               static_cast<double>(breaches.counts[i]));
  }
}

void add_work(metric_page& to, const behind_summary& now) {
  to.gauge("libtune_behind_waiting_keys", "Keys that are still to be tuned behind the program.", {},
           static_cast<double>(now.waiting + (now.current.empty() ? 0 : 1)));
  to.counter("libtune_behind_tuned_total", "Keys that were tuned behind the program.", {},
             static_cast<double>(now.tuned));
  to.counter("libtune_behind_failed_total", "Keys whose tuning behind the program has failed.", {},
             static_cast<double>(now.failed));
  to.counter("libtune_behind_device_seconds_total",
             "Device time of the tuner behind the program; its rate is the share of the tuner.", {},
             now.used);
  to.counter("libtune_behind_slices_total", "Slices of the tuner behind the program.", {},
             static_cast<double>(now.slices));
  to.counter("libtune_behind_repeated_total", "Slices that were measured again.", {},
             static_cast<double>(now.repeated));
  to.counter("libtune_behind_deferred_total", "Configurations that are too long for a slice.", {},
             static_cast<double>(now.deferred));
  to.gauge("libtune_behind_longest_slice_seconds", "The longest slice of the tuner.", {},
           now.longest_slice);
  to.gauge("libtune_behind_slowdown_ratio",
           "The factor of the tuner's pauses; above 1 it spares late frames.", {}, now.slowdown);
}

void add_times(metric_page& to, const behind_times& spent) {
  const std::array parts{
      std::pair{"preparing", spent.preparing}, std::pair{"checking", spent.checking},
      std::pair{"measuring", spent.measuring}, std::pair{"repeating", spent.repeating},
      std::pair{"pausing", spent.pausing},     std::pair{"slowing", spent.slowing},
      std::pair{"held", spent.held},           std::pair{"other", spent.other}};
  for (const auto& [name, time] : parts) {
    to.counter("libtune_behind_seconds_total", "Time of the tuner behind the program, by its use.",
               {{"part", name}}, time);
  }
}

void add_beats(metric_page& to, const behind_summary& now) {
  const std::array kinds{std::pair{"idle", now.alone}, std::pair{"active", now.beside}};
  for (const auto& [tuner, intervals] : kinds) {
    to.counter("libtune_heartbeat_intervals_total",
               "Intervals of heartbeats, with the tuner behind the program idle or active.",
               {{"tuner", tuner}}, static_cast<double>(intervals.count));
    to.gauge("libtune_heartbeat_p999_seconds", "999 of 1000 intervals are at most this long.",
             {{"tuner", tuner}}, intervals.p999);
    to.gauge("libtune_heartbeat_longest_seconds", "The longest interval of heartbeats.",
             {{"tuner", tuner}}, intervals.longest);
  }
}

}  // namespace

void add_library(metric_page& to, std::size_t most_keys) {
  to.gauge("libtune_info", "The version of libtune.", {{"version", library_version()}}, 1);
  key_tally::shared().write(to, most_keys);
  add_seal(to);
  const behind_summary behind = behind_report();
  add_work(to, behind);
  add_times(to, behind.spent);
  add_beats(to, behind);
}

}  // namespace tune::detail
