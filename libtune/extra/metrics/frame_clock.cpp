// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/frame_clock.hpp"

#include <fmt/format.h>
#include <map>
#include <mutex>

#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"

namespace tune {
namespace {

/// The tallies of this process. They stay, so that the last text of a program has the frames of
/// pipelines that were destroyed before.
struct frame_tallies {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<detail::frame_tally>> all;
};

frame_tallies& tallies() {
  static detail::never_destroyed<frame_tallies> made;
  return *made;
}

}  // namespace

std::vector<std::pair<std::string, std::shared_ptr<const detail::frame_tally>>>
detail::all_frame_tallies() {
  const std::lock_guard lock(tallies().mutex);
  return {tallies().all.begin(), tallies().all.end()};
}

frame_clock::frame_clock(const std::string& name, std::chrono::nanoseconds deadline) {
  if (name.empty() || deadline.count() < 0) {
    throw argument_error(
        fmt::format("a frame clock '{}' with a deadline of {} ns was asked for; give it the name "
                    "of its pipeline, and a deadline that is not negative",
                    name, deadline.count()));
  }
  const std::lock_guard lock(tallies().mutex);
  auto& tally = tallies().all[name];
  if (!tally) tally = std::make_shared<detail::frame_tally>();
  tally_ = tally;
  if (deadline.count() > 0) tally_->deadline_ns = deadline.count();
}

}  // namespace tune
