// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_kernel.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/preamble.hpp"
#include "libtune/testing/fake_queue.hpp"

namespace fake_kernel_test {

using tune::testing::fake_argument;
using tune::testing::fake_launch;
using tune::testing::fake_macros;
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

}  // namespace fake_kernel_test
