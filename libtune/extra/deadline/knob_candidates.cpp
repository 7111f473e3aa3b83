// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/knob_candidates.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t most_losses = 2;

}  // namespace

knob_candidates::knob_candidates(const pipeline_space& space, const configuration& start,
                                 const std::vector<configuration>& list)
    : space_(space.space()), in_service_(index_of(start)) {
  for (const configuration& each : list) list_.push_back(index_of(each));
}

std::size_t knob_candidates::index_of(const configuration& of) const {
  const auto found = space_.find(of.values());
  if (found) return *found;
  throw argument_error(
      fmt::format("a live pipeline was asked for the knobs {}, which its space does not have or "
                  "forbids; choose "
                  "candidates of pipeline_space",
                  to_string(of.values())));
}

std::optional<configuration> knob_candidates::next() const {
  const std::vector<std::size_t> all = list_.empty() ? neighbours() : list_;
  for (std::size_t lost = 0; lost < most_losses; ++lost) {
    for (const std::size_t each : all) {
      if (each != in_service_ && losses(each) == lost) return configuration(space_.values(each));
    }
  }
  return std::nullopt;
}

void knob_candidates::note_loss(const configuration& of, bool for_one_frame) {
  losses_.emplace_back(index_of(of), for_one_frame ? 1 : most_losses);
}

void knob_candidates::note_service(const configuration& of) {
  losses_.emplace_back(in_service_, most_losses);
  in_service_ = index_of(of);
}

std::size_t knob_candidates::losses(std::size_t index) const {
  std::size_t sum = 0;
  for (const auto& [lost, count] : losses_) sum += lost == index ? count : 0;
  return sum;
}

std::vector<std::size_t> knob_candidates::neighbours() const {
  std::vector<std::size_t> found;
  const auto& knobs = space_.parameters();
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    auto values = space_.values(in_service_);
    for (const value& candidate : knobs[k].candidates) {
      values[k].value = candidate;
      const auto near = space_.find(values);
      if (near && *near != in_service_) found.push_back(*near);
    }
  }
  return found;
}

}  // namespace tune::detail
