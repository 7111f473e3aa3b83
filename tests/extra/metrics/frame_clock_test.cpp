// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/frame_clock.hpp"

#include <doctest/doctest.h>
#include <mutex>
#include <string>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/extra/metrics.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "tests/device/lock_watch.hpp"

namespace frame_clock_test {

using namespace std::chrono_literals;
using tune::frame_clock;

TEST_CASE("frames beyond the deadline are late") {
  frame_clock frames("clock.late", 5ms);
  CHECK(frames.deadline() == 5ms);
  frames.record(4ms);
  frames.record(5ms);
  frames.record(5ms + 1ns);
  frames.record(80ms);
  CHECK(frames.late() == 2);
  CHECK(frames.times().count() == 4);
  CHECK(frames.times().longest() == 80ms);
}

TEST_CASE("without a deadline no frame is late") {
  frame_clock frames("clock.relaxed");
  frames.record(1h);
  CHECK(frames.late() == 0);
}

TEST_CASE("an end counts the frame that has begun, once") {
  frame_clock frames("clock.begin", 1h);
  CHECK(frames.end() == 0ns);
  frames.begin();
  const auto time = frames.end();
  CHECK(frames.end() == 0ns);
  CHECK(frames.times().count() == 1);
  CHECK(frames.times().longest() == time);
}

TEST_CASE("clocks of one name count together, also after one was destroyed") {
  frame_clock(std::string("clock.shared"), 3ms).record(4ms);
  frame_clock again("clock.shared");
  again.record(4ms);
  CHECK(again.late() == 2);
  const frame_clock other("clock.shared", 8ms);
  again.record(4ms);
  CHECK(again.late() == 2);
  CHECK(other.times().count() == 3);
}

TEST_CASE("a clock without a name, or with a negative deadline, is refused") {
  CHECK_THROWS_AS(frame_clock(""), tune::argument_error);
  CHECK_THROWS_AS(frame_clock("clock.negative", -1ns), tune::argument_error);
}

TEST_CASE("a frame allocates nothing and takes no lock, while another thread makes texts") {
  frame_clock frames("clock.sealed", 1us);
  const tune::metrics_exporter metrics({.every = 1ms, .receives = [](std::string_view) {}});
  tune::seal({.scope = tune::seal_scope::this_thread});
  const tune::testing::allocation_counter allocations;
  const sealed::lock_watch locks;
  for (int i = 0; i < 20000; ++i) {
    frames.begin();
    frames.end();
    frames.record(2us);
  }
  const std::size_t allocated = allocations.count();
  const std::size_t locked = locks.count();
  tune::unseal(tune::seal_scope::this_thread);
  CHECK(allocated == 0);
  CHECK(locked == 0);
  CHECK(frames.times().count() == 40000);
  CHECK(frames.late() >= 20000);
}

TEST_CASE("the watch of these tests sees a lock") {
  const sealed::lock_watch locks;
  std::mutex mutex;
  mutex.lock();
  mutex.unlock();
  CHECK(locks.count() == 1);
}

}  // namespace frame_clock_test
