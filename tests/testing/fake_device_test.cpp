// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_device.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/kernel/compile.hpp"

namespace fake_device_test {

using std::chrono::nanoseconds;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::fake_launch;

TEST_CASE("a fake device is what it is told to be") {
  const fake_device fake({.identity = {"n", "p", "v"},
                          .backend = "other",
                          .kind = tune::device_kind::cpu,
                          .limits = {.compute_units = 3}});
  const tune::device_info info = fake.device().info();
  CHECK(info.identity == tune::device_identity{.name = "n",
                                               .platform = "p",
                                               .driver_version = "v",
                                               .capabilities = {.api = "other"},
                                               .performance = {.compute_units = 3}});
  CHECK(info.backend == "other");
  CHECK(info.kind == tune::device_kind::cpu);
  CHECK(info.limits.compute_units == 3);
  CHECK(info.language == tune::kernel_language::opencl_c);
}

TEST_CASE("a kernel is a host function that knows its configuration") {
  const fake_device fake;
  fake.add_kernel("scale", 2, [](fake_launch& launch) {
    for (float& item : launch.buffer<float>(0)) {
      item *= launch.argument<float>(1) * static_cast<float>(launch.integer("wgs"));
    }
  });
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer buffer = context.create_buffer(sizeof(float));
  float value = 3;
  queue.write(buffer, &value, sizeof value);
  tune::kernel kernel =
      tune::compile(context, {"k", "text"}, tune::defines().add("wgs", 8)).create_kernel("scale");
  kernel.set_arguments(buffer, 2.0F);
  queue.enqueue(kernel, {});
  queue.read(buffer, &value, sizeof value);
  CHECK(value == 48);
}

TEST_CASE("the launches that succeeded are kept, with their configuration") {
  const fake_device fake;
  fake.add_kernel("k", 0, nullptr);
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::kernel kernel =
      tune::compile(context, {"k", ""}, tune::defines().add("wgs", 8)).create_kernel("k");
  queue.enqueue(kernel, {{16}, {8}});
  fake.fail_next(fake_call::launch);
  CHECK_THROWS_AS(queue.enqueue(kernel, {{24}, {8}}), tune::device_error);
  queue.enqueue(kernel, {{32}, {8}});
  const auto launches = fake.launches();
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].kernel == "k");
  CHECK(launches[0].macros.integer("wgs") == 8);
  CHECK(launches[1].range.global.x == 32);
  CHECK(fake.calls(fake_call::launch) == 3);
}

TEST_CASE("commands move the virtual clock by their times") {
  const fake_device fake({.times = {.kernel = nanoseconds{1},
                                    .copy = nanoseconds{10},
                                    .fill = nanoseconds{100},
                                    .compile = nanoseconds{1000}}});
  fake.add_kernel("k", 0, nullptr);
  const auto start = fake.now();
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::kernel kernel = tune::compile(context, {"k", ""}).create_kernel("k");
  CHECK(fake.now() - start == nanoseconds{1000});
  queue.enqueue(kernel, {});
  const tune::buffer buffer = context.create_buffer(1);
  char byte = 0;
  queue.write(buffer, &byte, 1);
  queue.zero(buffer, 1);
  CHECK(fake.now() - start == nanoseconds{1111});
  fake.advance(nanoseconds{5000});
  CHECK(fake.clock()() - start == nanoseconds{6111});
}

TEST_CASE("a clock outlives the handle of its device") {
  const auto clock = fake_device().clock();
  CHECK(clock() == clock());
}

TEST_CASE("failures can be cleared, and calls go on being counted") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  fake.fail_next(fake_call::allocate);
  fake.clear_failures();
  CHECK_NOTHROW(context.create_buffer(1));
  CHECK(fake.calls(fake_call::allocate) == 1);
}

}  // namespace fake_device_test
