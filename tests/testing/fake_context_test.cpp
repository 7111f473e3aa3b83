// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_context.hpp"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/preamble.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fake_kernel.hpp"
#include "libtune/testing/fake_queue.hpp"
#include "libtune/testing/fake_state.hpp"
#include "tests/testing/refusals.hpp"

namespace fake_context_test {

using std::chrono::nanoseconds;
using tune::device_failure;
using tune::testing::check_refused;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::fake_kernel;
using tune::testing::fake_launch;
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

struct launch_bench {
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

  void check_refused(tune::kernel& kernel, const tune::nd_range& range) {
    tune::testing::check_refused([&] { queue.enqueue(kernel, range); }, device_failure::over_limit);
  }
};

TEST_CASE_FIXTURE(launch_bench,
                  "a work group over a limit, in all or along one axis, is refused as such") {
  tune::kernel kernel = make({});
  CHECK_NOTHROW(queue.enqueue(kernel, {{64}, {64}}));
  CHECK_NOTHROW(queue.enqueue(kernel, {{16, 1, 4}, {16, 1, 4}}));
  check_refused(kernel, {{65}, {65}});
  check_refused(kernel, {{33, 2}, {33, 2}});
  check_refused(kernel, {{1, 33}, {1, 33}});
  check_refused(kernel, {{1, 1, 5}, {1, 1, 5}});
  CHECK(fake.launches().size() == 2);
}

TEST_CASE_FIXTURE(launch_bench, "a kernel's own limit counts too") {
  tune::kernel kernel = make({.parameters = {}, .run = {}, .max_work_group_size = 8});
  CHECK_NOTHROW(queue.enqueue(kernel, {{8}, {8}}));
  check_refused(kernel, {{16}, {16}});
}

TEST_CASE_FIXTURE(launch_bench, "local memory over the limit is refused as such") {
  const fake_kernel kernel{
      .parameters = {}, .run = {}, .local_memory_bytes = [](const fake_macros& macros) {
        return static_cast<std::size_t>(macros.integer("bytes"));
      }};
  tune::kernel fits = make(kernel, "#define bytes 1000");
  CHECK_NOTHROW(queue.enqueue(fits, {}));
  tune::kernel large = make(kernel, "#define bytes 1001");
  check_refused(large, {});
}

TEST_CASE_FIXTURE(launch_bench, "a launch that fails when told does not run") {
  int runs = 0;
  tune::kernel kernel = make({.parameters = {}, .run = [&](fake_launch&) { ++runs; }});
  fake.fail_next(fake_call::launch, 2, {.failure = device_failure::over_limit});
  queue.enqueue(kernel, {});
  check_refused(kernel, {});
  CHECK(runs == 1);
}

TEST_CASE_FIXTURE(launch_bench, "copies, fills and waits fail when told") {
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

TEST_CASE_FIXTURE(launch_bench, "what a host function throws leaves the launch") {
  tune::kernel kernel = make(
      {.parameters = {}, .run = [](fake_launch&) { throw std::runtime_error("from the kernel"); }});
  CHECK_THROWS_WITH_AS(queue.enqueue(kernel, {}), "from the kernel", std::runtime_error);
  CHECK(fake.launches().empty());
}

struct event_bench {
  event_bench() { fake.add_kernel("k", 0, nullptr); }

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

TEST_CASE_FIXTURE(event_bench, "a launch takes the time that was set for it") {
  CHECK(launch(1).duration() == nanoseconds{1000});
  fake.set_time([](const fake_launch& launch) { return nanoseconds(launch.range().global.x); });
  CHECK(launch(7).duration() == nanoseconds{7});
  fake.set_time(nullptr);
  CHECK(launch(7).duration() == nanoseconds{1000});
}

TEST_CASE_FIXTURE(event_bench,
                  "times that cannot be are reported, but the clock does not go back") {
  fake.set_time([](const fake_launch&) { return nanoseconds{-5}; });
  kernel();  // compiling takes time too
  const auto before = fake.now();
  CHECK(launch(1).duration() == nanoseconds{-5});
  CHECK(fake.now() == before);
  fake.set_time([](const fake_launch&) { return nanoseconds{0}; });
  CHECK(launch(1).duration() == nanoseconds{0});
  CHECK(fake.now() == before);
}

TEST_CASE_FIXTURE(event_bench, "events know how far they are apart, over queues too") {
  const tune::event first = launch(1);
  fake.advance(nanoseconds{300});
  const tune::event second = launch(1);
  tune::command_queue other = context.create_command_queue({.profiling = true});
  const tune::event marker = other.enqueue_marker();
  CHECK(second.time_since(first) == nanoseconds{300});
  CHECK(first.time_till(second) == nanoseconds{300});
  CHECK(marker.time_since(first) == nanoseconds{1300});
  CHECK(marker.duration() == nanoseconds{0});
}

TEST_CASE_FIXTURE(event_bench, "waiting fails when told") {
  const tune::event event = launch(1);
  fake.fail_next(tune::testing::fake_call::finish);
  CHECK_THROWS_AS(event.wait(), tune::device_error);
  CHECK_NOTHROW(event.wait());
}

tune::kernel make_counting(const fake_device& fake, const tune::context& context) {
  fake.add_kernel("count", 2, [](tune::testing::fake_launch& launch) {
    launch.buffer<int>(0)[0] += launch.argument<int>(1);
  });
  return context.create_program({.name = "p", .text = "", .options = {}}).create_kernel("count");
}

TEST_CASE("a captured launch counts as a call once, and as a launch whenever its graph runs") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::kernel count = make_counting(fake, context);
  const tune::buffer data = context.create_buffer(sizeof(int));
  queue.zero(data, sizeof(int));
  count.set_arguments(data, 5);
  const auto before = fake.now();
  const auto graph = queue.capture([&] { queue.enqueue(count, {}); });
  REQUIRE(graph);
  CHECK(fake.now() == before);
  CHECK(fake.calls(fake_call::capture) == 1);
  CHECK(fake.calls(fake_call::launch) == 1);
  CHECK(fake.launches().empty());
  queue.enqueue(*graph);
  queue.enqueue(*graph);
  CHECK(fake.now() - before == nanoseconds{2000});
  CHECK(fake.calls(fake_call::launch) == 1);
  CHECK(fake.calls(fake_call::launch_graph) == 2);
  CHECK(fake.launches().size() == 2);
  int value = 0;
  queue.read(data, &value, sizeof value);
  CHECK(value == 10);
}

TEST_CASE("a captured fill keeps its pattern") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer data = context.create_buffer(8);
  const auto graph = queue.capture([&] {
    const std::array<int, 1> pattern{77};
    queue.fill(data, 8, std::as_bytes(std::span(pattern)));
  });
  REQUIRE(graph);
  queue.enqueue(*graph);
  std::array<int, 2> values{};
  queue.read(data, values.data(), 8);
  CHECK(values == std::array<int, 2>{77, 77});
}

TEST_CASE("a fake device may be one without graphs") {
  const fake_device fake({.command_graphs = false});
  CHECK_FALSE(fake.device().info().command_graphs);
  tune::command_queue queue = fake.device().create_context().create_command_queue();
  CHECK_FALSE(queue.capture([] { FAIL_CHECK("called"); }).has_value());
  CHECK(fake.calls(fake_call::capture) == 0);
}

}  // namespace fake_context_test

namespace fake_context_test::of_fake_kernel {

using tune::testing::fake_argument;
using tune::testing::fake_parameter;

TEST_CASE("macros are read from the text of a program") {
  const fake_macros macros("int x;\n#define wgs 64\n#define op a + b\n  #define empty\n// end");
  CHECK(macros.text("wgs") == "64");
  CHECK(macros.text("op") == "a + b");
  CHECK(macros.text("empty").empty());
  CHECK(macros.defined("wgs"));
  CHECK_FALSE(macros.defined("x"));
}

TEST_CASE("macros with parameters are left out, and the last definition counts") {
  const fake_macros macros("#define f(x) x\n#define a 1\n#define a 2");
  CHECK_FALSE(macros.defined("f"));
  CHECK(macros.text("a") == "2");
}

TEST_CASE("integers are read, the negative ones in their brackets") {
  const fake_macros macros("#define a 64\n#define b (-3)\n#define c 1.5\n#define d\n#define e ()");
  CHECK(macros.integer("a") == 64);
  CHECK(macros.integer("b") == -3);
  CHECK_THROWS_WITH_AS(macros.integer("c"), doctest::Contains("the macro c is '1.5'"),
                       tune::argument_error);
  CHECK_THROWS_AS(macros.integer("d"), tune::argument_error);
  CHECK_THROWS_AS(macros.integer("e"), tune::argument_error);
}

TEST_CASE("a macro that is not defined is an error that names it") {
  CHECK_THROWS_WITH_AS(fake_macros().text("wgs"), doctest::Contains("no macro wgs"),
                       tune::argument_error);
}

TEST_CASE("the portable preamble can be read") {
  const fake_macros macros(tune::preamble(tune::kernel_language::opencl_c));
  CHECK(macros.text("KERNEL") == "__kernel");
  CHECK(macros.integer("LIBTUNE_OPENCL") == 1);
}

class memory final : public tune::testing::fake_memory {
 public:
  std::span<std::byte> contents() noexcept override {
    return std::as_writable_bytes(std::span(data));
  }
  std::array<int, 3> data{7, 8, 9};
};

struct launch_bench {
  launch_bench() {
    arguments[0].memory = buffer;
    const auto bytes = std::as_bytes(std::span(&scalar, 1));
    arguments[1].bytes.assign(bytes.begin(), bytes.end());
  }

  std::shared_ptr<memory> buffer = std::make_shared<memory>();
  int scalar = 42;
  std::vector<fake_argument> arguments{3};
  std::string name = "k";
  tune::nd_range range{{2, 1, 2}, {1}};
  fake_macros macros{"#define wgs 64"};
  fake_launch launch{name, range, macros, arguments};
};

TEST_CASE_FIXTURE(launch_bench, "a launch shows its kernel, shape, macros and arguments") {
  CHECK(launch.kernel() == "k");
  CHECK(launch.range().global == tune::work_size{2, 1, 2});
  CHECK(launch.macro("wgs") == "64");
  CHECK(launch.integer("wgs") == 64);
  CHECK(launch.macros().defined("wgs"));
  CHECK(launch.argument<int>(1) == 42);
  CHECK(launch.buffer<int>(0).size() == 3);
}

TEST_CASE_FIXTURE(launch_bench, "a buffer's elements can be written") {
  launch.buffer<int>(0)[1] = 80;
  CHECK(buffer->data == std::array{7, 80, 9});
}

TEST_CASE_FIXTURE(launch_bench, "an argument read as what it is not is an error that says so") {
  CHECK_THROWS_WITH_AS(launch.argument<double>(1),
                       doctest::Contains("was set to 4 bytes, but is read as 8 bytes"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(launch.argument<int>(0), doctest::Contains("a buffer"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(launch.buffer<int>(1), doctest::Contains("argument 1 of fake kernel 'k'"),
                       tune::argument_error);
  CHECK_THROWS_AS(launch.buffer<int>(3), tune::argument_error);
}

TEST_CASE_FIXTURE(launch_bench, "work items are visited, x fastest") {
  std::vector<std::size_t> seen;
  launch.for_each_item(
      [&](std::size_t x, std::size_t y, std::size_t z) { seen.push_back(x + 10 * y + 100 * z); });
  CHECK(seen == std::vector<std::size_t>{0, 1, 100, 101});
}

struct kernel_bench {
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::buffer buffer = context.create_buffer(4);

  tune::kernel make(tune::testing::fake_kernel kernel) const {
    fake.add_kernel("k", std::move(kernel));
    return context.create_program({.name = "p", .text = "", .options = {}}).create_kernel("k");
  }
};

TEST_CASE_FIXTURE(kernel_bench, "declared parameters take only what they are") {
  tune::kernel kernel =
      make({.parameters = {fake_parameter::buffer(), fake_parameter::scalar<int>()}, .run = {}});
  CHECK_NOTHROW(kernel.set_arguments(buffer, 1));
  CHECK_THROWS_WITH_AS(kernel.set_argument(0, 1),
                       doctest::Contains("4 bytes given, the parameter takes a buffer"),
                       tune::device_error);
  CHECK_THROWS_WITH_AS(kernel.set_argument(1, buffer),
                       doctest::Contains("a buffer given, the parameter takes 4 bytes"),
                       tune::device_error);
  CHECK_THROWS_AS(kernel.set_argument(1, 1.0), tune::device_error);
}

TEST_CASE_FIXTURE(kernel_bench, "undeclared parameters take anything") {
  tune::kernel kernel = make({.parameters = {fake_parameter()}, .run = {}});
  CHECK_NOTHROW(kernel.set_argument(0, 1.0));
  CHECK_NOTHROW(kernel.set_argument(0, buffer));
}

TEST_CASE_FIXTURE(kernel_bench, "a kernel object keeps the function of the time when it was made") {
  int calls = 0;
  tune::kernel old = make({.parameters = {}, .run = [&](tune::testing::fake_launch&) { ++calls; }});
  tune::kernel replaced = make({.parameters = {}, .run = {}});
  tune::command_queue queue = context.create_command_queue();
  queue.enqueue(replaced, {});
  CHECK(calls == 0);
  queue.enqueue(old, {});
  CHECK(calls == 1);
}

}  // namespace fake_context_test::of_fake_kernel
