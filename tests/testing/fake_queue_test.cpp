// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_queue.hpp"

#include <doctest/doctest.h>
#include <stdexcept>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"

namespace fake_queue_test {

using tune::device_failure;
using tune::testing::fake_call;
using tune::testing::fake_kernel;
using tune::testing::fake_launch;
using tune::testing::fake_macros;

struct bench {
  tune::testing::fake_device fake{{.limits = {.max_work_group_size = 64,
                                              .max_work_group_extent = {64, 32, 4},
                                              .local_memory_bytes = 1000,
                                              .global_memory_bytes = 1000,
                                              .max_allocation_bytes = 1000}}};
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();

  tune::kernel make(fake_kernel kernel, const std::string& text = {}) const {
    fake.add_kernel("k", std::move(kernel));
    return context.create_program({.name = "p", .text = text, .options = {}}).create_kernel("k");
  }

  device_failure failure_of(tune::kernel& kernel, const tune::nd_range& range) {
    try {
      queue.enqueue(kernel, range);
    } catch (const tune::device_error& caught) {
      return caught.failure();
    }
    FAIL("the launch succeeded");
    return device_failure::other;
  }
};

TEST_CASE_FIXTURE(bench,
                  "a work group over a limit, in all or along one axis, is refused as such") {
  tune::kernel kernel = make({});
  CHECK_NOTHROW(queue.enqueue(kernel, {{64}, {64}}));
  CHECK_NOTHROW(queue.enqueue(kernel, {{16, 1, 4}, {16, 1, 4}}));
  CHECK(failure_of(kernel, {{65}, {65}}) == device_failure::over_limit);
  CHECK(failure_of(kernel, {{33, 2}, {33, 2}}) == device_failure::over_limit);
  CHECK(failure_of(kernel, {{1, 33}, {1, 33}}) == device_failure::over_limit);
  CHECK(failure_of(kernel, {{1, 1, 5}, {1, 1, 5}}) == device_failure::over_limit);
  CHECK(fake.launches().size() == 2);
}

TEST_CASE_FIXTURE(bench, "a kernel's own limit counts too") {
  tune::kernel kernel = make({.parameters = {}, .run = {}, .max_work_group_size = 8});
  CHECK_NOTHROW(queue.enqueue(kernel, {{8}, {8}}));
  CHECK(failure_of(kernel, {{16}, {16}}) == device_failure::over_limit);
}

TEST_CASE_FIXTURE(bench, "local memory over the limit is refused as such") {
  const fake_kernel kernel{
      .parameters = {}, .run = {}, .local_memory_bytes = [](const fake_macros& macros) {
        return static_cast<std::size_t>(macros.integer("bytes"));
      }};
  tune::kernel fits = make(kernel, "#define bytes 1000");
  CHECK_NOTHROW(queue.enqueue(fits, {}));
  tune::kernel large = make(kernel, "#define bytes 1001");
  CHECK(failure_of(large, {}) == device_failure::over_limit);
}

TEST_CASE_FIXTURE(bench, "an unset argument is an invalid launch") {
  tune::kernel kernel = make({.parameters = {2, tune::testing::fake_parameter()}, .run = {}});
  kernel.set_argument(0, 1);
  CHECK(failure_of(kernel, {}) == device_failure::invalid_launch);
  kernel.set_argument(1, context.create_buffer(1));
  CHECK_NOTHROW(queue.enqueue(kernel, {}));
}

TEST_CASE_FIXTURE(bench, "a launch that fails when told does not run") {
  int runs = 0;
  tune::kernel kernel = make({.parameters = {}, .run = [&](fake_launch&) { ++runs; }});
  fake.fail_next(fake_call::launch, 2, {.failure = device_failure::over_limit});
  queue.enqueue(kernel, {});
  CHECK(failure_of(kernel, {}) == device_failure::over_limit);
  CHECK(runs == 1);
}

TEST_CASE_FIXTURE(bench, "launches fail by the macros of their program") {
  fake.fail_when(fake_call::launch,
                 [](const fake_macros& macros) { return macros.integer("wgs") == 32; });
  tune::kernel good = make({}, "#define wgs 16");
  tune::kernel bad = make({}, "#define wgs 32");
  CHECK_NOTHROW(queue.enqueue(good, {}));
  CHECK_THROWS_AS(queue.enqueue(bad, {}), tune::device_error);
}

TEST_CASE_FIXTURE(bench, "copies, fills and waits fail when told") {
  const tune::buffer buffer = context.create_buffer(4);
  int value = 0;
  fake.fail_next(fake_call::copy);
  CHECK_THROWS_AS(queue.write(buffer, &value, 4), tune::device_error);
  fake.fail_next(fake_call::fill);
  CHECK_THROWS_AS(queue.zero(buffer, 4), tune::device_error);
  fake.fail_next(fake_call::finish);
  CHECK_THROWS_AS(queue.finish(), tune::device_error);
  CHECK_NOTHROW(queue.finish());
}

TEST_CASE_FIXTURE(bench, "what a host function throws leaves the launch") {
  tune::kernel kernel = make(
      {.parameters = {}, .run = [](fake_launch&) { throw std::runtime_error("from the kernel"); }});
  CHECK_THROWS_WITH_AS(queue.enqueue(kernel, {}), "from the kernel", std::runtime_error);
  CHECK(fake.launches().empty());
}

}  // namespace fake_queue_test
