// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_device.hpp"

#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/kernel/compile.hpp"

namespace fake_device_test {

using std::chrono::nanoseconds;
using tune::testing::fake_call;
using tune::testing::fake_clock;
using tune::testing::fake_device;
using tune::testing::fake_failures;
using tune::testing::fake_launch;
using tune::testing::fake_macros;

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

TEST_CASE("the clock moves when it is told to, and only then") {
  fake_clock clock;
  const auto start = clock.now();
  CHECK(clock.now() == start);
  CHECK(clock.advance(nanoseconds{5}) == start);
  CHECK(clock.now() - start == nanoseconds{5});
}

TEST_CASE("the clock never goes back") {
  fake_clock clock;
  clock.advance(nanoseconds{5});
  const auto before = clock.now();
  CHECK(clock.advance(nanoseconds{-3}) == before);
  CHECK(clock.advance(nanoseconds{0}) == before);
  CHECK(clock.now() == before);
}

TEST_CASE("calls are counted, each kind on its own") {
  fake_failures failures;
  CHECK_FALSE(failures.count(fake_call::launch, nullptr));
  CHECK_FALSE(failures.count(fake_call::launch, nullptr));
  CHECK_FALSE(failures.count(fake_call::finish, nullptr));
  CHECK(failures.calls(fake_call::launch) == 2);
  CHECK(failures.calls(fake_call::finish) == 1);
  CHECK(failures.calls(fake_call::compile) == 0);
}

TEST_CASE("the nth call from now fails, and no other") {
  fake_failures failures;
  failures.count(fake_call::copy, nullptr);
  failures.fail_next(fake_call::copy, 2, {.reason = "second"});
  CHECK_FALSE(failures.count(fake_call::launch, nullptr));
  CHECK_FALSE(failures.count(fake_call::copy, nullptr));
  const auto failure = failures.count(fake_call::copy, nullptr);
  REQUIRE(failure);
  CHECK(failure->reason == "second");
  CHECK_FALSE(failures.count(fake_call::copy, nullptr));
  CHECK(failures.calls(fake_call::copy) == 4);
  CHECK_THROWS_AS(failures.fail_next(fake_call::copy, 0), tune::argument_error);
}

TEST_CASE("failures asked for together each have their own count") {
  fake_failures failures;
  failures.fail_next(fake_call::fill, 1, {.reason = "a"});
  failures.fail_next(fake_call::fill, 3, {.reason = "b"});
  CHECK(failures.count(fake_call::fill, nullptr)->reason == "a");
  CHECK_FALSE(failures.count(fake_call::fill, nullptr));
  CHECK(failures.count(fake_call::fill, nullptr)->reason == "b");
}

TEST_CASE("calls fail while their program's macros fit") {
  fake_failures failures;
  failures.fail_when(fake_call::launch,
                     [](const fake_macros& macros) { return macros.integer("wgs") > 64; });
  const fake_macros small("#define wgs 64");
  const fake_macros large("#define wgs 128");
  CHECK_FALSE(failures.count(fake_call::launch, &small));
  CHECK(failures.count(fake_call::launch, &large));
  CHECK(failures.count(fake_call::launch, &large));
  CHECK_FALSE(failures.count(fake_call::compile, &large));
}

TEST_CASE("only calls with a program can depend on its macros") {
  fake_failures failures;
  CHECK_THROWS_AS(failures.fail_when(fake_call::copy, [](const fake_macros&) { return true; }),
                  tune::argument_error);
}

TEST_CASE("after a sticky failure everything fails, until it is cleared") {
  fake_failures failures;
  failures.fail_next(fake_call::launch, 1, {.reason = "illegal access", .sticky = true});
  CHECK_FALSE(failures.stuck());
  CHECK_FALSE(failures.count(fake_call::copy, nullptr));
  CHECK(failures.count(fake_call::launch, nullptr));
  CHECK(failures.stuck()->reason == "illegal access");
  CHECK(failures.count(fake_call::copy, nullptr)->reason == "illegal access");
  failures.clear();
  CHECK_FALSE(failures.stuck());
  CHECK_FALSE(failures.count(fake_call::launch, nullptr));
  CHECK(failures.calls(fake_call::launch) == 2);
}

TEST_CASE("clearing forgets failures that have not happened yet") {
  fake_failures failures;
  failures.fail_next(fake_call::launch);
  failures.clear();
  CHECK_FALSE(failures.count(fake_call::launch, nullptr));
}

TEST_CASE("threads may count at the same time") {
  fake_failures failures;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) failures.count(fake_call::launch, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures.calls(fake_call::launch) == 400);
}

}  // namespace fake_device_test
