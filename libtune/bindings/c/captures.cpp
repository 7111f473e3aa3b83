// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Frames of running pipelines in files.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/bindings/c/handles.hpp"
#include "libtune/extra/capture.hpp"

using tune::c_api::destroy;
using tune::c_api::give;
using tune::c_api::giving;
using tune::c_api::guarded;
using tune::c_api::required;
using tune::c_api::text_of;

struct libtune_capture {
  tune::capture frames;
  std::vector<std::shared_ptr<tune::operation>> kept{};
  std::vector<tune::capture_point> points{};
  std::unique_ptr<tune::c_api::value_list> counts{};  // that libtune_capture_counts gave last
};

struct libtune_frame {
  tune::frame_snapshot snapshot;
};

namespace {

std::vector<std::string> names_of(const char* const* first, std::size_t count) {
  std::vector<std::string> names;
  if (count == 0) return names;
  const char* const* const list = &required(first, "the list of slots");
  for (std::size_t i = 0; i < count; ++i) names.push_back(text_of(list[i]));
  return names;
}

tune::capture_options options_of(const char* settings) {
  if (settings == nullptr) return {};
  return tune::capture_options_from_text(settings);
}

std::vector<tune::named_value> values_of(const tune::capture& of) {
  const tune::capture_counts counts = of.counts();
  return {{"frames", counts.frames},          {"written", counts.written},
          {"in_time", counts.in_time},        {"skipped", counts.skipped},
          {"failed", counts.failed},          {"bytes", counts.bytes},
          {"last_failure", of.last_failure()}};
}

}  // namespace

libtune_status libtune_capture_create(const char* name, const char* settings,
                                      libtune_capture** capture) {
  return giving(capture,
                [&] { give(capture, tune::capture(text_of(name), options_of(settings))); });
}

libtune_status libtune_capture_add(libtune_capture* capture, const char* name,
                                   libtune_operation* operation, const char* const* unchanged,
                                   size_t unchanged_count, const char* const* overwritten,
                                   size_t overwritten_count, size_t* point) {
  return guarded([&] {
    libtune_capture& to = required(capture, "the capture");
    std::size_t& number = required(point, "the place for the number");
    const auto& of = required(operation, "the operation").operation;
    to.points.push_back(to.frames.add(text_of(name), *of,
                                      {.unchanged = names_of(unchanged, unchanged_count),
                                       .overwritten = names_of(overwritten, overwritten_count)}));
    to.kept.push_back(of);
    number = to.points.size() - 1;
  });
}

libtune_status libtune_capture_prepare(libtune_capture* capture) {
  return guarded([&] { required(capture, "the capture").frames.prepare(); });
}

libtune_status libtune_capture_begin(libtune_capture* capture, libtune_frame** frame) {
  return giving(frame, [&] {
    tune::frame_snapshot begun = required(capture, "the capture").frames.begin();
    *frame = nullptr;
    if (begun) give(frame, std::move(begun));
  });
}

libtune_status libtune_capture_run(libtune_capture* capture, size_t point, libtune_frame* frame) {
  return guarded([&] {
    const auto& points = required(capture, "the capture").points;
    if (point >= points.size()) {
      throw tune::argument_error("the capture has " + std::to_string(points.size()) +
                                 " operations, and none of the number " + std::to_string(point));
    }
    tune::frame_snapshot none;
    points[point].run(frame == nullptr ? none : frame->snapshot);
  });
}

libtune_status libtune_capture_end(libtune_capture* capture, libtune_frame* frame) {
  return guarded([&] {
    libtune_capture& of = required(capture, "the capture");
    if (frame == nullptr) return;
    const std::unique_ptr<libtune_frame> ended(frame);
    of.frames.end(ended->snapshot);
  });
}

libtune_status libtune_capture_request(libtune_capture* capture, uint64_t frames) {
  return guarded([&] { required(capture, "the capture").frames.request(frames); });
}

libtune_status libtune_capture_wait(libtune_capture* capture, double seconds, int* written) {
  return guarded([&] {
    constexpr double longest = 1e6;
    const double time = std::isnan(seconds) ? 0 : std::clamp(seconds, 0.0, longest);
    int& to = required(written, "the place for the result");
    to = required(capture, "the capture")
                 .frames.wait(std::chrono::milliseconds(std::llround(1e3 * time)))
             ? 1
             : 0;
  });
}

libtune_status libtune_capture_counts(libtune_capture* capture, const libtune_named_value** counts,
                                      size_t* count) {
  return guarded([&] {
    libtune_capture& of = required(capture, "the capture");
    of.counts = std::make_unique<tune::c_api::value_list>(values_of(of.frames));
    of.counts->give(counts, count);
  });
}

libtune_status libtune_capture_destroy(libtune_capture* capture) { return destroy(capture); }
