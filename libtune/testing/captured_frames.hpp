// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/extra/capture/capture_reader.hpp"
#include "libtune/extra/capture/replay.hpp"

namespace tune::testing {

/// A file of captured frames as the inputs and the answers of a test. The program links
/// libtune::capture.
///
///   const tune::testing::captured_frames frames("tests/late_frame.ltcapture");
///   tune::workload work(queue);
///   tune::answer expected;
///   frames.fill(work, "sum");
///   frames.complete(expected, queue, "sum", {.relative = 1e-5});
///   CHECK(tune::find_fault(candidate, work, expected) == std::nullopt);
class captured_frames {
 public:
  /// @throws as capture_reader
  explicit captured_frames(const std::filesystem::path& path) : file_(path) {}

  /// The file.
  const capture_reader& file() const noexcept { return file_; }

  /// A run of an operation in a frame of the file.
  /// @param name   the name given to capture::add
  /// @param frame  the place of the frame in the file
  /// @throws argument_error that lists the names if there is no such run, or no such frame
  const captured_call& call(std::string_view name, std::size_t frame = 0) const {
    if (frame >= file_.frames().size()) {
      throw argument_error("the file '" + file_.path().string() + "' has " +
                           std::to_string(file_.frames().size()) + " frames");
    }
    std::string names;
    for (const captured_call& each : file_.frames()[frame].calls) {
      if (each.name == name) return each;
      names += (names.empty() ? "" : ", ") + each.name;
    }
    throw argument_error("the frame has no operation '" + std::string(name) + "'; it has " + names);
  }

  /// Sets the contents before a run. @throws as call and set_captured
  void fill(workload& work, std::string_view name, std::size_t frame = 0) const {
    set_captured(work, file_, call(name, frame));
  }
  /// Adds the contents after a run. @throws as call and add_captured
  void complete(answer& expected, const command_queue& queue, std::string_view name,
                const tolerance& allowed = {}, std::size_t frame = 0) const {
    add_captured(expected, queue, file_, call(name, frame), allowed);
  }
  /// Runs all frames again and checks, by doctest, that all results have the same bits.
  void check_replay(const command_queue& queue) const {
    for (const captured_frame& frame : file_.frames()) {
      for (const captured_call& each : frame.calls) {
        const replayed_call made = replay(file_, frame, each, queue);
        CAPTURE(made.name);
        CAPTURE(made.text);
        CHECK(made.outcome == replay_outcome::same);
      }
    }
  }

 private:
  capture_reader file_;
};

}  // namespace tune::testing
