// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The state of a program for its operators.
#include "libtune/extra/metrics.hpp"

#include <chrono>
#include <cmath>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/bindings/c/handles.hpp"

using tune::c_api::destroy;
using tune::c_api::give;
using tune::c_api::giving;
using tune::c_api::guarded;
using tune::c_api::required;
using tune::c_api::text_of;

struct libtune_metrics {
  tune::metrics_exporter exporter;
  std::string text{};  // that libtune_metrics_text gave last
};

struct libtune_frame_clock {
  tune::frame_clock clock;
};

namespace {

std::chrono::nanoseconds time_of(double seconds) {
  constexpr double longest = 1e9;
  if (!(std::abs(seconds) <= longest)) {
    throw tune::argument_error("a time of " + std::to_string(seconds) +
                               " s is no time of a frame; give seconds");
  }
  return std::chrono::nanoseconds(std::llround(1e9 * seconds));
}

}  // namespace

libtune_status libtune_metrics_create(const char* settings, libtune_metrics** metrics) {
  return giving(metrics, [&] {
    tune::metrics_options options;
    if (settings != nullptr) options = tune::metrics_options_from_text(settings);
    give(metrics, tune::metrics_exporter(std::move(options)));
  });
}

libtune_status libtune_metrics_text(libtune_metrics* metrics, const char** text) {
  return guarded([&] {
    libtune_metrics& of = required(metrics, "the metrics");
    const char*& to = required(text, "the place for the text");
    of.text = of.exporter.text();
    to = of.text.c_str();
  });
}

libtune_status libtune_metrics_write(libtune_metrics* metrics, int* written) {
  return guarded([&] {
    libtune_metrics& of = required(metrics, "the metrics");
    required(written, "the place for the result") = of.exporter.write() ? 1 : 0;
  });
}

libtune_status libtune_metrics_destroy(libtune_metrics* metrics) { return destroy(metrics); }

libtune_status libtune_frame_clock_create(const char* name, double deadline,
                                          libtune_frame_clock** clock) {
  return giving(clock, [&] { give(clock, tune::frame_clock(text_of(name), time_of(deadline))); });
}

libtune_status libtune_frame_clock_begin(libtune_frame_clock* clock) {
  return guarded([&] { required(clock, "the frame clock").clock.begin(); });
}

libtune_status libtune_frame_clock_end(libtune_frame_clock* clock) {
  return guarded([&] { static_cast<void>(required(clock, "the frame clock").clock.end()); });
}

libtune_status libtune_frame_clock_record(libtune_frame_clock* clock, double seconds) {
  return guarded([&] { required(clock, "the frame clock").clock.record(time_of(seconds)); });
}

libtune_status libtune_frame_clock_destroy(libtune_frame_clock* clock) { return destroy(clock); }
