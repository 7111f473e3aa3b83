// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_context.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/testing/fake_state.hpp"
#include "tests/testing/refusals.hpp"

namespace fake_context_test {

using tune::device_failure;
using tune::testing::check_refused;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::fake_macros;

const tune::program_source with_wgs{"k", "#define wgs 128", {}};

TEST_CASE("fresh buffers are full of poison") {
  const tune::context context = fake_device().device().create_context();
  std::vector<std::byte> values(100);
  context.create_command_queue().read(context.create_buffer(100), values.data(), 100);
  CHECK(std::ranges::count(values, fake_device::poison) == 100);
}

TEST_CASE("memory is taken by buffers and given back with them") {
  const fake_device fake({.limits = {.global_memory_bytes = 100, .max_allocation_bytes = 60}});
  const tune::context context = fake.device().create_context();
  {
    const tune::buffer first = context.create_buffer(60);
    CHECK(fake.live_bytes() == 60);
    check_refused([&] { context.create_buffer(41); }, device_failure::out_of_memory);
    const tune::buffer second = context.create_buffer(40);
    CHECK(fake.live_bytes() == 100);
  }
  CHECK(fake.live_bytes() == 0);
  check_refused([&] { context.create_buffer(61); }, device_failure::out_of_memory);
  CHECK(fake.live_bytes() == 0);
}

TEST_CASE("a compile fails when it is told to, with its log") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  fake.fail_when(fake_call::compile,
                 [](const fake_macros& macros) { return macros.integer("wgs") > 64; },
                 {.reason = "too many registers"});
  try {
    context.create_program(with_wgs);
    FAIL("it compiled");
  } catch (const tune::build_error& failure) {
    CHECK(failure.log() == "too many registers");
  }
  CHECK_NOTHROW(context.create_program({"k", "#define wgs 64", {}}));
  CHECK(fake.calls(fake_call::compile) == 2);
}

TEST_CASE("a kernel that is not registered is an error that says what to do") {
  const fake_device fake;
  const tune::program program = fake.device().create_context().create_program(with_wgs);
  CHECK_THROWS_WITH_AS(program.create_kernel("k"), doctest::Contains("add_kernel"),
                       tune::device_error);
  fake.add_kernel("k", 0, nullptr);
  CHECK(program.create_kernel("k").info().max_work_group_size == 1024);
  fake.fail_next(fake_call::create_kernel);
  CHECK_THROWS_AS(program.create_kernel("k"), tune::device_error);
}

TEST_CASE("a kernel's limits may depend on its configuration") {
  const fake_device fake;
  fake.add_kernel("k", {.parameters = {},
                        .run = nullptr,
                        .local_memory_bytes =
                            [](const fake_macros& macros) {
                              return static_cast<std::size_t>(4 * macros.integer("wgs"));
                            },
                        .max_work_group_size = 96});
  const tune::program program = fake.device().create_context().create_program(with_wgs);
  CHECK(program.create_kernel("k").info().local_memory_bytes == 512);
  CHECK(program.create_kernel("k").info().max_work_group_size == 96);
}

TEST_CASE("after a sticky failure the device is of no use in any context") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer buffer = context.create_buffer(4);
  fake.fail_next(fake_call::finish, 1, {.reason = "illegal access", .sticky = true});
  CHECK_THROWS_AS(queue.finish(), tune::device_error);
  CHECK_THROWS_WITH_AS(queue.zero(buffer, 4), doctest::Contains("illegal access"),
                       tune::device_error);
  CHECK_THROWS_AS(context.create_program(with_wgs), tune::device_error);
  CHECK_THROWS_AS(context.create_command_queue(), tune::device_error);
  CHECK_THROWS_AS(queue.flush(), tune::device_error);
  CHECK_THROWS_AS(queue.enqueue_marker(), tune::device_error);
  CHECK_THROWS_AS(fake.device().create_context(), tune::device_error);
  fake.clear_failures();
  CHECK_NOTHROW(queue.finish());
}

// The log of a text that does not compile; empty for one that does.
std::string log_of(const std::string& text) {
  try {
    tune::testing::check_source({.name = "raw", .text = text, .options = {}}, {});
    return {};
  } catch (const tune::build_error& failure) {
    return failure.log();
  }
}

TEST_CASE("any text compiles") {
  CHECK(log_of("").empty());
  CHECK(log_of("nonsense { \n // #error\n").empty());
}

TEST_CASE("an #error line fails at its line") {
  CHECK(log_of("one\n#error bad thing\nthree") == "raw:2:1: error: error bad thing\n");
}

TEST_CASE("a #line directive says where") {
  CHECK(log_of("one\n#line 1 \"k.kernel\"\nfirst\n#error bad\n") ==
        "k.kernel:2:1: error: error bad\n");
}

TEST_CASE("errors under a condition are not looked at") {
  CHECK(log_of("#if wgs > 4\n#ifdef x\n#endif\n#error bad\n#endif\n").empty());
  CHECK_FALSE(log_of("#if wgs > 4\n#endif\n#error bad\n").empty());
}

}  // namespace fake_context_test
