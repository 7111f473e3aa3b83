// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One budget of time for all tunings of a program. docs/ready.md is the guide.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/extra/ready/readiness_report.hpp"
#include "libtune/operation/operation.hpp"

namespace tune {

/// An operation of a frame.
struct frame_part {
  operation* work = nullptr;  ///< an operation or a sequence that build has made
  double times = 1;           ///< the number of its runs in a frame; may be a part of one
};

/// The time for get_ready, and a description of a frame.
struct ready_options {
  /// The time to be ready. LIBTUNE_READY overrides it, else that of the context's options;
  /// default_ready by default.
  std::optional<std::chrono::nanoseconds> within{};
  /// Returns the operations of a frame, from the latest run of build. Each is run a few times, so
  /// their slots are bound or can be. A tuned_by declaration of their classes, or of those of their
  /// children, relates their times to keys. Empty: all keys have the same share.
  std::function<std::vector<frame_part>()> frame{};
};

/// The default of ready_options::within.
inline constexpr std::chrono::seconds default_ready{60};

/// Builds a program, and tunes its keys for a limited time:
///
///   std::optional<receiver> made;
///   const tune::readiness_report report = tune::get_ready(
///       context, [&] { made.reset(); made.emplace(context); },
///       {.within = 60s, .frame = [&] { return made->frame(); }});
///
/// First build runs with stored results, nearest results and test defaults, so that nothing is
/// searched. Then the keys without a result are tuned, each for a part of the time: first those
/// that are expected to save most of a frame's time for each second of a search. At last build runs
/// again, if there are new results. Keys that are left are tuned behind the program if it links
/// libtune::behind; otherwise they are noted for `tunedb pretune --missed`.
///
/// With LIBTUNE_READY=off, a lock file, or the modes cached and default, build runs once, with the
/// context's options. In a test, too.
/// @param context  its options apply; they are replaced while build runs. Other threads do not use
///                 the context meanwhile
/// @param build    makes all templates with the options of this context, and may run twice
/// @throws exceptions of build and of frame; environment_error. A failure of a search is reported
readiness_report get_ready(const context& context, const std::function<void()>& build,
                           const ready_options& options = {});

}  // namespace tune
