// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The counts of captured frames among the metrics of a program. Not part of metrics.hpp: link
// libtune::capture, too.
#pragma once

#include <string>
#include <utility>

#include "libtune/extra/capture/capture.hpp"
#include "libtune/extra/metrics/metrics_exporter.hpp"

namespace tune {

/// Adds the counts of a capture to an exporter, which keeps a handle of it.
/// @param to        the exporter
/// @param pipeline  the label of its samples
/// @param frames    the capture
inline void add_capture(const metrics_exporter& to, std::string pipeline, capture frames) {
  to.add([pipeline = std::move(pipeline), frames = std::move(frames)](metric_page& page) {
    const capture_counts counts = frames.counts();
    const auto add = [&](const char* outcome, std::uint64_t count) {
      page.counter("libtune_captured_frames_total", "Captured frames by their outcome.",
                   {{"pipeline", pipeline}, {"outcome", outcome}}, static_cast<double>(count));
    };
    add("written", counts.written);
    add("in_time", counts.in_time);
    add("skipped", counts.skipped);
    add("failed", counts.failed);
    page.counter("libtune_captured_bytes_total", "Bytes of the files of captured frames.",
                 {{"pipeline", pipeline}}, static_cast<double>(counts.bytes));
  });
}

}  // namespace tune
