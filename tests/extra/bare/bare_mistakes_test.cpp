// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/tune/error.hpp"
#include "tests/extra/bare/bare_sample.hpp"

namespace bare_mistakes_test {

using bare_sample::chosen;
using bare_sample::counted;
using bare_sample::on_device;
using bare_sample::scaling;
using bare_sample::scaling_device;
using bare_sample::scaling_kernel;
using tune::bare_kernel;
using tune::configuration;
using tune::testing::fake_device;

TEST_CASE("a clock that no device has leaves its configuration out") {
  const fake_device fake = scaling_device();
  auto kernel = scaling_kernel();
  kernel.parameter("memory_clock_mhz", {0.0, -1.0, 1e300});
  const auto best = kernel.tune(fake.device().create_context());
  CHECK(best.best().number("memory_clock_mhz") == 0);
  for (const tune::trial& each : best.trials()) {
    if (configuration(each.configuration).number("memory_clock_mhz") == 0) continue;
    CHECK(each.reason.find("no setting of a device") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(on_device, "a name that could be a parameter and a figure is refused") {
  const auto refused = [&](const auto& change, const char* reason) {
    auto kernel = scaling_kernel();
    change(kernel);
    CHECK_THROWS_WITH_AS(kernel.tune(context), doctest::Contains(reason), tune::argument_error);
    CHECK(fake.launches().empty());
  };
  refused(
      [](bare_kernel& of) {
        of.parameter("time", {1, 2}).metric("rate", "1000 / time").goal("max rate");
      },
      "the parameter 'time' hides the figure 'time'");
  refused([](bare_kernel& of) { of.parameter("time", {1, 2}); }, "'time'");
  refused(
      [](bare_kernel& of) {
        of.parameter("p99", {1, 2}).metric("tail", "p99 / time");
      },
      "'p99'");
  refused(
      [](bare_kernel& of) {
        of.parameter("registers", {1, 2}).limit("registers < 3");
      },
      "'registers'");
  refused([](bare_kernel& of) { of.parameter("energy", {1, 2}).goal("min energy"); }, "'energy'");
  refused([](bare_kernel& of) { of.metric("time", "width"); }, "a metric cannot be called 'time'");
  refused([](bare_kernel& of) { of.metric("width", "2 * width"); },
          "'width' is a parameter and a metric");
  auto kernel = scaling_kernel();
  kernel.parameter("registers", {1}).metric("gflops", "registers * 2000 / time");
  kernel.limit("local_memory >= 0").goal("max gflops");
  CHECK_THROWS_AS(kernel.tune(context), tune::argument_error);
  auto right = scaling_kernel();
  right.parameter("spread", {1}).metric("gflops", "width * 2000 / time").goal("max gflops");
  CHECK(right.tune(context).trials().size() == 9);
}

TEST_CASE("mistakes are errors that say what to change") {
  CHECK_THROWS_AS(bare_kernel({.name = "", .source = "", .problem_size = {1}}),
                  tune::argument_error);
  CHECK_THROWS_AS(bare_kernel({.name = "a", .source = "", .problem_size = {}}),
                  tune::argument_error);
  CHECK_THROWS_WITH_AS(tune::kernel_file("/no/such.kernel"),
                       "the kernel's file '/no/such.kernel' cannot be read", tune::argument_error);
  auto kernel = scaling_kernel();
  CHECK_THROWS_WITH_AS(kernel.parameter("grid_size_x", {1}),
                       "'grid_size_x' cannot be a parameter: the kernel gets a macro of this name",
                       tune::argument_error);
  CHECK_THROWS_AS(kernel.parameter("width", {8}), tune::argument_error);
  CHECK_THROWS_AS(kernel.parameter("float", {8}), tune::argument_error);
  CHECK_THROWS_AS(kernel.parameter("a b", {8}), tune::argument_error);
  CHECK_THROWS_AS(kernel.parameter("twice", {8, 8}), tune::argument_error);
  CHECK_THROWS_AS(kernel.parameter("empty", std::vector<int>{}), tune::argument_error);
  CHECK_THROWS_AS(kernel.define("width", std::string("3")), tune::argument_error);
  CHECK_THROWS_AS(kernel.answer(2, counted(1000)), tune::argument_error);
  CHECK_THROWS_AS(kernel.answer(0, counted(999)), tune::argument_error);
  CHECK_THROWS_WITH_AS(kernel.answer(0, std::vector<int>(1000)),
                       "argument 0 of the kernel 'scale' is of float32, its answer of int32",
                       tune::argument_error);
  CHECK_THROWS_AS(kernel.remember({"no name", 0, {}}), tune::argument_error);
  const on_device on;
  kernel.divide_grid_x({"width - 1"});
  CHECK_THROWS_WITH_AS(kernel.run(on.context, chosen(32, 1)),
                       "the problem size along x is divided by 0 for block_size_x=32, width=1",
                       tune::argument_error);
  kernel.divide_grid_x({"1 / 10.0 ** (width * 300)"});
  CHECK_THROWS_WITH_AS(kernel.run(on.context, chosen(32, 1)),
                       doctest::Contains("these are too many work groups"), tune::argument_error);
  CHECK_THROWS_WITH_AS(scaling_kernel().local_memory("width / 2").run(on.context, chosen(32, 1)),
                       "the dynamic local memory 'width / 2' is 0.5 for block_size_x=32, width=1, "
                       "not a count",
                       tune::argument_error);
  bare_kernel instance({.name = "scale<float, {width * 2}>", .source = "", .problem_size = {1}});
  CHECK_THROWS_WITH_AS(instance.run(on.context, {{"width", 3}}),
                       "the kernel's name 'scale<float, 6>' is a C++ expression, and OpenCL C, "
                       "which device 'fake device' compiles, has none",
                       tune::argument_error);
}

/// The text that tune throws; empty: nothing.
std::string thrown_by_tuning(const bare_kernel& kernel, const tune::context& context) {
  try {
    kernel.tune(context);
  } catch (const tune::argument_error& mistake) {
    return mistake.what();
  }
  return {};
}

TEST_CASE_FIXTURE(on_device, "a name that is no parameter is found before the search") {
  auto grid = scaling_kernel();
  grid.divide_grid_x({"block_sise_x"});
  CHECK(thrown_by_tuning(grid, context) ==
        "a divisor of the grid along x of the kernel 'scale' reads 'block_sise_x', which is no "
        "parameter; the parameters are block_size_x, width");
  CHECK(thrown_by_tuning(scaling_kernel().local_memory("4 * wdth"), context)
            .starts_with("the dynamic local memory of the kernel 'scale' reads 'wdth'"));
  auto group = scaling_kernel();
  group.work_group("blocksize");
  const std::string wrong =
      "the work group of the kernel 'scale' has the extent 'blocksize' along x, which is no "
      "parameter, macro or number; the parameters are block_size_x, width";
  CHECK(thrown_by_tuning(group, context) == wrong);
  CHECK_THROWS_WITH_AS(group.run(context, chosen(32, 1)), wrong.c_str(), tune::argument_error);
  CHECK(fake.launches().empty());
}

TEST_CASE_FIXTURE(on_device, "an extent of the work group may be a macro or a number") {
  auto kernel = scaling_kernel();
  kernel.define("rows", [](const configuration& at) { return tune::value(at["width"] * 2); });
  kernel.work_group("block_size_x", "rows", "3");
  kernel.run(context, chosen(32, 2));
  CHECK(fake.launches().back().range.local == tune::work_size{32, 4, 3});
  kernel.work_group("block_size_x", "block_size_y").define("block_size_y", std::int64_t{5});
  kernel.run(context, chosen(32, 2));
  CHECK(fake.launches().back().range.local == tune::work_size{32, 5, 1});
  kernel.define("none", tune::value(std::int64_t{0})).work_group("none");
  CHECK_THROWS_WITH_AS(kernel.run(context, chosen(32, 2)),
                       "the work group's extent 'none' is 0, not positive", tune::argument_error);
}

TEST_CASE_FIXTURE(on_device,
                  "arguments that the kernel does not take end the search at the first") {
  const auto numbers = counted(1000);
  const auto tuned_with = [&](std::vector<tune::kernel_argument> given) {
    auto kernel = scaling_kernel();
    kernel.set_arguments(std::move(given));
    const std::string text = thrown_by_tuning(kernel, context);
    CHECK(fake.launches().empty());
    return text;
  };
  const auto number = tune::detail::to_argument(scaling{2.0F, 1000});
  CHECK(tuned_with({tune::out(numbers), tune::in(numbers)}) ==
        "the kernel 'scale' takes 3 arguments, and 2 are given");
  CHECK(tuned_with({tune::out(numbers), tune::in(numbers), number, number})
            .ends_with("the kernel takes 3 arguments, counted from 0"));
  CHECK(tuned_with({tune::out(numbers, "same"), tune::in(numbers, "same"), number}).find("same") !=
        std::string::npos);
  CHECK(tuned_with({tune::out(numbers), tune::in({999}, [] { return counted(1000); }), number}) ==
        "argument 1 of the kernel 'scale': an array of a bare kernel is (999,), and its contents "
        "are (1000,)");
}

TEST_CASE_FIXTURE(on_device, "a problem without work items is refused") {
  auto none = scaling_kernel(0);
  CHECK(thrown_by_tuning(none, context) ==
        "the problem size along x of the kernel 'scale' is 0: there is nothing to run");
  bare_kernel some({.name = "scale", .source = "a kernel", .problem_size = {"1000 * (width - 1)"}});
  some.parameter("block_size_x", {32}).parameter("width", {1, 2});
  some.arguments(tune::out<float>({1000}), counted(1000), scaling{2.0F, 1000});
  const auto best = some.tune(context);
  CHECK(best.best() == chosen(32, 2));
  CHECK(best.trials()[0].reason ==
        "the problem size of the kernel 'scale' is 0 for block_size_x=32, width=1");
}

TEST_CASE("answers that cannot be are refused at once, with the argument's number") {
  auto kernel = scaling_kernel();
  CHECK_THROWS_WITH_AS(kernel.answer(0, counted(1000)),
                       "argument 0 of the kernel 'scale' has an answer already",
                       tune::argument_error);
  kernel.arguments(tune::out(counted(1000)), counted(1000), scaling{2.0F, 1000});
  CHECK_THROWS_WITH_AS(kernel.answer(0, counted(999)),
                       "the answer for argument 0 of the kernel 'scale': an array of a bare kernel "
                       "is (1000,), and its contents are (999,)",
                       tune::argument_error);
  kernel.answer(0, [] { return counted(999); });
  const on_device on;
  CHECK(thrown_by_tuning(kernel, on.context)
            .starts_with("the answer for argument 0 of the kernel 'scale': "));
}

}  // namespace bare_mistakes_test
