// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Files with a captured run of the small pipeline, and altered copies of them.
#pragma once

#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "libtune/extra/capture.hpp"
#include "libtune/extra/capture/capture_writer.hpp"
#include "libtune/store/files/file_system.hpp"
#include "tests/extra/capture/captured_pipeline.hpp"

namespace captured_pipeline {

constexpr std::size_t sample_size = 1000;

/// Captures one run of an operation. Returns the file.
inline std::filesystem::path capture_run(tune::operation& of, const std::filesystem::path& folder,
                                         tune::capture_point_options options = {}) {
  tune::capture frames("one", {.folder = folder, .each_nth = 1});
  const auto point = frames.add("run", of, std::move(options));
  frames.prepare();
  tune::frame_snapshot frame = frames.begin();
  point.run(frame);
  frames.end(frame);
  REQUIRE(frames.wait());
  REQUIRE(frames.last_failure().empty());
  return std::filesystem::directory_iterator(folder)->path();
}

inline gain loaded_gain(const tune::command_queue& queue) {
  constexpr std::size_t size = sample_size;
  gain step(queue, compile(queue.context()), size);
  set(step, "src", ramp(size, 3));
  set(step, "sum", ramp(size, 100));
  step.set_scale(5);
  return step;
}

/// Writes a file again after a change of its frame.
inline std::filesystem::path altered(const std::filesystem::path& path,
                                     const std::function<void(tune::captured_call&)>& change) {
  const tune::capture_reader file(path);
  const std::filesystem::path made = path.string() + ".altered";
  tune::replace_file_by(made.string(), [&](const std::string& name) {
    tune::detail::capture_writer writer(name);
    tune::captured_frame frame = file.frames()[0];
    for (auto& call : frame.calls) {
      for (auto& slot : call.slots) {
        if (slot.before) slot.before = writer.add_contents(file.read(*slot.before));
        if (slot.after) slot.after = writer.add_contents(file.read(*slot.after));
      }
    }
    change(frame.calls[0]);
    writer.add(frame);
    writer.finish();
  });
  return made;
}

}  // namespace captured_pipeline
