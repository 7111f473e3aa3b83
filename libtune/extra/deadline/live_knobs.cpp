// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/live_knobs.hpp"

#include <array>
#include <fmt/format.h>

#include "libtune/extra/deadline/live_knobs_core.hpp"

namespace tune {

std::string to_string(const knobs_event& event) {
  constexpr std::array<const char*, 5> names{"is tried", "is on probation", "is kept",
                                             "is taken back", "is refused"};
  std::string text =
      fmt::format("{} {} in place of {}", to_string(event.after.values()),
                  names[static_cast<std::size_t>(event.change)], to_string(event.before.values()));
  if (event.frames > 0) text += fmt::format(", after {} frames", event.frames);
  return event.reason.empty() ? text : text + ": " + event.reason;
}

namespace detail {

live_knobs_base::live_knobs_base(const context& where, const pipeline_space& space,
                                 const configuration& start, const pipeline_goal& goal,
                                 live_knobs_parts parts, const live_knobs_options& options,
                                 bool has_thread)
    : core_(std::make_unique<live_knobs_core>(where, space, start, goal, std::move(parts), options,
                                              has_thread)) {}

live_knobs_base::live_knobs_base(live_knobs_base&& other) noexcept = default;
live_knobs_base::~live_knobs_base() = default;

configuration live_knobs_base::knobs() const { return core_->knobs(); }
live_knobs_counts live_knobs_base::counts() const noexcept { return core_->counts(); }
const std::shared_ptr<void>& live_knobs_base::epoch() noexcept { return core_->epoch(); }
void live_knobs_base::record(const void* by, std::chrono::duration<double> latency,
                             double figure) noexcept {
  core_->record(by, latency.count(), figure);
}

}  // namespace detail
}  // namespace tune
