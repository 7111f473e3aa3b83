// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/deadline-live.md.
#include <chrono>
#include <cstddef>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

#include "examples/guide/guide.hpp"
#include "libtune/extra/deadline.hpp"
#include "libtune/testing/devices.hpp"

namespace live_knobs_guide_test {

using clock = std::chrono::steady_clock;

/// A pipeline that scales a frame of 8 channels in some launches.
class scaling {
 public:
  scaling(const tune::context& context, std::size_t launches)
      : queue_(context.create_command_queue()) {
    const guide::gain_template gains(context);
    for (std::size_t n = 0; n < launches; ++n) {
      steps_.push_back(gains.instantiate(queue_, 8 / launches, 700));
      steps_.back().ensure_all_bound();
    }
    run();  // drivers load much at the first launch
  }
  clock::time_point run() {
    for (auto& each : steps_) each.run();
    queue_.finish();
    return clock::now();
  }

 private:
  tune::command_queue queue_;
  std::vector<guide::gain> steps_;
};

LIBTUNE_DEVICE_TEST_CASE("the guide's pipeline changes its knobs in service", device) {
  const tune::context context = device.create_context();
  tune::pipeline_space space({.name = "sample.scaling", .version = 1});
  space.knob("launches", {2, 1, 4});
  const tune::configuration start = space.by_hand();
  // clang-format off
  // [make]
  const tune::live_knobs<scaling>::functions functions{
      .make = [&](const tune::configuration& knobs) {
        return std::make_shared<scaling>(context, static_cast<std::size_t>(knobs["launches"]));
      },
      .rehearse = [](scaling& candidate) {
        const auto begin = clock::now();
        return candidate.run() - begin;   // one frame, on input of its own
      }};
  tune::live_knobs<scaling> live(
      context, space, start,
      {.deadline = std::chrono::milliseconds(2), .quantile = 0.99}, functions,
      {.period = std::chrono::milliseconds(1)});
  // [make]
  // clang-format on
  int frames = 0;
  const auto observing = [&] { return ++frames < 200; };
  // clang-format off
  // [run]
  tune::seal();
  while (observing()) {
    const auto ready = clock::now();
    const std::shared_ptr<scaling> now = live.epoch();  // serves this frame
    const auto end = now->run();
    live.record(*now, end - ready);
  }
  // [run]
  // clang-format on
  tune::unseal();
  CHECK(tune::seal_report().total() == 0);
  CHECK(live.counts().frames == 199);
}

}  // namespace live_knobs_guide_test
