// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/extra/capture/capture_reader.hpp"
#include "libtune/extra/capture/replay.hpp"

namespace tune {

/// A run in a file: the place of its frame, and its place in the frame.
using captured_place = std::pair<std::size_t, std::size_t>;

/// Options of a replay in a child process.
struct replay_options {
  /// The program that makes the operations again; its main begins with serve_if_worker, and it
  /// links libtune::capture. Without a path: this program.
  tuner_program program{};
  /// A run that takes longer has failed, and its child is ended.
  std::chrono::seconds call_time{120};
  /// Called after each run. May be empty.
  std::function<void(const replayed_call&)> done{};
  /// Ends the replay if it returns true. Called often. May be empty.
  std::function<bool()> stop{};
};

/// Runs captured runs again in a child process, so that a kernel that faults or never ends costs
/// the child: its run has failed, and another child goes on. The child uses the device of the
/// frame if it finds it, else the one that LIBTUNE_DEVICE chooses or the best.
/// @param from    its path is opened by the child
/// @param places  of the runs, in this order
/// @returns one for each place, unless stopped
/// @throws error if the program does not serve replays; std::system_error if it cannot be started
std::vector<replayed_call> replay_in_child(const capture_reader& from,
                                           const std::vector<captured_place>& places,
                                           const replay_options& options = {});

/// The places of all runs of a file.
std::vector<captured_place> all_places(const capture_reader& from);

namespace detail {
/// Links the service of replays into a program.
void offer_replays() noexcept;
}  // namespace detail

}  // namespace tune
