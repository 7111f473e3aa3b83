// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_event.hpp"

#include <doctest/doctest.h>
#include <optional>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"

namespace fake_event_test {

using std::chrono::nanoseconds;
using tune::testing::fake_launch;

struct bench {
  bench() { fake.add_kernel("k", 0, nullptr); }

  tune::event launch(std::size_t items) {
    return queue.enqueue_with_event(kernel(), {{items}, {1}});
  }
  tune::kernel& kernel() {
    if (!kernel_) kernel_.emplace(context.create_program({"p", "", {}}).create_kernel("k"));
    return *kernel_;
  }

  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
  std::optional<tune::kernel> kernel_;
};

TEST_CASE_FIXTURE(bench, "a launch takes the time that was set for it") {
  CHECK(launch(1).duration() == nanoseconds{1000});
  fake.set_time([](const fake_launch& launch) { return nanoseconds(launch.range().global.x); });
  CHECK(launch(7).duration() == nanoseconds{7});
  fake.set_time(nullptr);
  CHECK(launch(7).duration() == nanoseconds{1000});
}

TEST_CASE_FIXTURE(bench, "times that cannot be are reported, but the clock does not go back") {
  fake.set_time([](const fake_launch&) { return nanoseconds{-5}; });
  kernel();  // compiling takes time too
  const auto before = fake.now();
  CHECK(launch(1).duration() == nanoseconds{-5});
  CHECK(fake.now() == before);
  fake.set_time([](const fake_launch&) { return nanoseconds{0}; });
  CHECK(launch(1).duration() == nanoseconds{0});
  CHECK(fake.now() == before);
}

TEST_CASE_FIXTURE(bench, "events know how far they are apart, over queues too") {
  const tune::event first = launch(1);
  fake.advance(nanoseconds{300});
  const tune::event second = launch(1);
  tune::command_queue other = context.create_command_queue({.profiling = true});
  const tune::event marker = other.enqueue_marker();
  CHECK(second.time_since(first) == nanoseconds{300});
  CHECK(marker.time_since(first) == nanoseconds{1300});
  CHECK(marker.duration() == nanoseconds{0});
}

TEST_CASE_FIXTURE(bench, "events without profiling have no times, and say what to do") {
  tune::command_queue plain = context.create_command_queue();
  const tune::event timeless = plain.enqueue_with_event(kernel(), {});
  CHECK_THROWS_WITH_AS(timeless.duration(), doctest::Contains("with profiling"),
                       tune::device_error);
  CHECK_THROWS_AS(launch(1).time_since(timeless), tune::device_error);
  CHECK_THROWS_AS(timeless.time_since(launch(1)), tune::device_error);
  CHECK(timeless.is_complete());
}

TEST_CASE_FIXTURE(bench, "waiting fails when told") {
  const tune::event event = launch(1);
  fake.fail_next(tune::testing::fake_call::finish);
  CHECK_THROWS_AS(event.wait(), tune::device_error);
  CHECK_NOTHROW(event.wait());
}

}  // namespace fake_event_test
