// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>
#include <utility>

#include "libtune/extra/ahead/distant_device.hpp"
#include "libtune/extra/ahead/fleet_call.hpp"
#include "libtune/extra/ahead/rank_silence.hpp"

namespace tune::detail {
namespace {

/// The work of a rank for the leading rank.
class serving {
 public:
  serving(const fleet_call& call, std::size_t leader)
      : call_(call), leader_(leader), link_(*call.ranks.links[leader]) {}

  std::optional<std::vector<pretuning_result>> run();

 private:
  void take(fleet_message message);
  void take(const fleet_assignment& assigned);

  const fleet_call& call_;
  std::size_t leader_;
  rank_link& link_;
  std::vector<std::unique_ptr<served_device>> devices_;
  std::optional<std::vector<pretuning_result>> results_;
};

std::optional<std::vector<pretuning_result>> serving::run() {
  rank_devices own = call_.own();
  link_.send(fleet_hello{.machine = std::move(own.machine),
                         .process = static_cast<std::uint64_t>(::getpid()),
                         .database = call_.database.place(),
                         .devices = std::move(own.devices)});
  const rank_heartbeat alive({&link_}, call_.longest_silence);
  silence_watch watch(link_, fmt::format("the leading rank {}", leader_), call_.longest_silence);
  // The leading rank sends nothing before it has met all others.
  bool has_begun = false;
  while (!results_ && !link_.is_lost() && !call_.is_stopped()) {
    if (auto message = link_.next(rank_link::clock::now() + between_looks)) {
      has_begun = true;
      take(*std::move(message));
    } else if (has_begun) {
      watch.look();
    }
  }
  if (results_) link_.send(fleet_end{});
  return std::move(results_);
}

void serving::take(fleet_message message) {
  const auto for_device = [&](std::uint64_t place, const auto& what) {
    for (const auto& device : devices_) {
      if (device->place() == place) what(*device);
    }
  };
  if (const auto* assigned = std::get_if<fleet_assignment>(&message)) {
    take(*assigned);
  } else if (const auto* question = std::get_if<fleet_question>(&message)) {
    link_.send(fleet_content{.content = call_.database.read(*question)});
  } else if (const auto* news = std::get_if<fleet_content>(&message)) {
    call_.database.merge(news->content,
                         news->replaces ? merge_winner::incoming : merge_winner::better);
  } else if (const auto* work = std::get_if<fleet_device_message>(&message)) {
    for_device(work->device, [&](served_device& device) { device.take(*work); });
  } else if (const auto* stop = std::get_if<fleet_stop>(&message)) {
    for_device(stop->device, [](served_device& device) { device.stop(); });
  } else if (auto* end = std::get_if<fleet_end>(&message)) {
    results_ = std::move(end->results);
  } else if (std::holds_alternative<fleet_farewell>(message)) {
    call_.ranks.is_left_out = true;
  }
}

// The second assignment means the end of the work. The children end while the others
// continue.
void serving::take(const fleet_assignment& assigned) {
  for (const auto& device : devices_) device->end();
  for (const std::uint64_t place : assigned.devices) {
    devices_.push_back(std::make_unique<served_device>(
        served_device_setting{.link = link_,
                              .place = place,
                              .device = call_.devices[place],
                              .tune = call_.tune,
                              .database = call_.settings.database,
                              .system_databases = call_.settings.system_databases,
                              .children = assigned.children,
                              .is_ended = [this] { return call_.is_stopped(); }}));
  }
}

}  // namespace

std::optional<std::vector<pretuning_result>> serve_leader(const fleet_call& call,
                                                          std::size_t leader) {
  return serving(call, leader).run();
}

}  // namespace tune::detail
