// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/cache_flush.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <utility>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/measure/timing/measurement.hpp"
#include "libtune/testing/fake_device.hpp"

namespace cache_flush_test {

using namespace std::chrono_literals;
using tune::run_time;
using tune::detail::flush_bytes;
using tune::testing::fake_call;
using tune::testing::fake_device;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// A device whose runs take 3 us and whose fills take a second.
struct flushed_device {
  fake_device device{{.limits = {.max_work_group_size = 64,
                                 .max_work_group_extent = {64, 1, 1},
                                 .global_memory_bytes = 64 * mebibyte,
                                 .max_allocation_bytes = 32 * mebibyte,
                                 .cache_bytes = mebibyte},
                      .times = {.kernel = 3us, .fill = 1s}}};
  tune::context context = device.device().create_context();
  tune::tuning_command_queue queue = context.create_tuning_command_queue();

  flushed_device() { device.add_kernel("work", {}); }

  tune::measure make() {
    auto work = context.create_program({.name = "work.cl", .text = "", .options = {}})
                    .create_kernel("work");
    return tune::make_measure(queue, [work = std::move(work), queue = queue]() mutable {
      queue.enqueue(work, {.global = {64, 1, 1}, .local = {64, 1, 1}});
    });
  }
};

TEST_CASE("a flush writes twice the cache, within what the device can give") {
  CHECK(flush_bytes({.cache_bytes = 50 * mebibyte}) == 100 * mebibyte);
  CHECK(flush_bytes({}) == 256 * mebibyte);
  CHECK(flush_bytes({.global_memory_bytes = 800 * mebibyte}) == 100 * mebibyte);
  CHECK(flush_bytes({.max_allocation_bytes = 10 * mebibyte}) == 10 * mebibyte);
}

TEST_CASE("before each timed run of a cold cache there is a flush that does not count") {
  flushed_device fixture;
  tune::measure measured = fixture.make();
  measured.cache(tune::cache_state::cold);
  CHECK(measured.sample(4) == std::vector<run_time>(4, 3us));
  CHECK(fixture.device.calls(fake_call::fill) == 4);
  measured.run();
  CHECK(fixture.device.calls(fake_call::fill) == 4);
}

TEST_CASE("a warm cache is not flushed") {
  flushed_device fixture;
  tune::measure measured = fixture.make();
  measured.cache(tune::cache_state::cold);
  measured.cache(tune::cache_state::warm);
  CHECK(measured.sample(4).size() == 4);
  CHECK(fixture.device.calls(fake_call::fill) == 0);
}

TEST_CASE("the settings of a measurement say whether the cache is cold") {
  flushed_device fixture;
  tune::measure measured = fixture.make();
  const auto taken = tune::take_samples(
      measured, {.time_limit = 0ns, .cache = tune::cache_state::cold}, fixture.device.clock());
  CHECK(taken.median() == 3us);
  CHECK(fixture.device.calls(fake_call::fill) == 1 + taken.size());
}

TEST_CASE("the flushes of a context share their memory, which goes with the last of them") {
  flushed_device fixture;
  {
    tune::measure first = fixture.make();
    tune::measure second = fixture.make();
    first.cache(tune::cache_state::cold);
    second.cache(tune::cache_state::cold);
    CHECK(fixture.device.live_bytes() == 2 * mebibyte);
  }
  CHECK(fixture.device.live_bytes() == 0);
}

}  // namespace cache_flush_test
