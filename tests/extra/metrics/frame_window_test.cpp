// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/frame_window.hpp"

#include <doctest/doctest.h>

namespace frame_window_test {

using namespace std::chrono_literals;
using tune::detail::frame_window;

constexpr frame_window::time_point start{1000s};

TEST_CASE("the first text has all frames, later ones those of the window") {
  tune::frame_histogram frames;
  frame_window window;
  frames.record(1s);
  CHECK(window.add(frames.read(), start, 100s).count() == 1);
  // One frame each 10 s.
  for (int i = 1; i <= 100; ++i) {
    frames.record(1ms);
    const auto recent = window.add(frames.read(), start + i * 10s, 100s);
    CHECK(recent.count() == static_cast<std::uint64_t>(std::min(i, 10)));
    CHECK(recent.longest() < 1s);
  }
}

TEST_CASE("a window without texts in it has the frames since the last text") {
  tune::frame_histogram frames;
  frame_window window;
  window.add(frames.read(), start, 100s);
  for (int i = 0; i < 5; ++i) frames.record(1ms);
  CHECK(window.add(frames.read(), start + 1h, 100s).count() == 5);
  CHECK(window.add(frames.read(), start + 1h + 1s, 100s).count() == 5);
  CHECK(window.add(frames.read(), start + 3h, 100s).count() == 0);
}

TEST_CASE("however many texts are made, the window stays about as long") {
  tune::frame_histogram frames;
  frame_window window;
  for (int i = 1; i <= 1000; ++i) {
    frames.record(1ms);
    const auto recent = window.add(frames.read(), start + i * 1s, 100s);
    if (i > 120) CHECK(recent.count() >= 100);
    CHECK(recent.count() <= 111);
  }
}

}  // namespace frame_window_test
