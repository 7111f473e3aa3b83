// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/bare_kernel.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/tune/error.hpp"
#include "tests/extra/bare/bare_sample.hpp"
#include "tests/extra/sensors/fake_nvml.hpp"

namespace bare_kernel_test {

using bare_sample::chosen;
using bare_sample::counted;
using bare_sample::on_device;
using bare_sample::scaling;
using bare_sample::scaling_device;
using bare_sample::scaling_kernel;
using tune::bare_kernel;
using tune::configuration;
using tune::testing::fake_device;
using tune::testing::fake_launch;

TEST_CASE_FIXTURE(on_device, "a bare kernel is tuned, and all trials come back with the winner") {
  const tune::tuned_kernel best = scaling_kernel().tune(context);
  CHECK(best.best() == chosen(128, 1));
  CHECK(best.time().has_value());
  REQUIRE(best.trials().size() == 9);
  for (const tune::trial& each : best.trials()) {
    const bool is_wrong = configuration(each.configuration)["width"] == 4;
    CHECK((each.outcome == tune::outcome::wrong_result) == is_wrong);
  }
}

TEST_CASE("clocks may be parameters of a bare kernel, and are no macros") {
  fake_nvml::workbench gpu;
  tune::testing::fake_device_options options;
  options.hardware.pci_address = fake_nvml::address;
  const fake_device fake(options);
  fake.add_kernel("run", 1, [&](fake_launch& launch) {
    launch.buffer<float>(0)[0] = static_cast<float>(gpu->graphics_clock);
  });
  fake.set_time([&](const fake_launch&) {
    return std::chrono::nanoseconds(gpu->graphics_clock == 1200 ? 1000 : 2000);
  });
  bare_kernel kernel({.name = "run", .source = "a kernel", .problem_size = {64}});
  kernel.parameter("block_size_x", {64}).parameter("graphics_clock_mhz", {0, 1200});
  kernel.arguments(tune::out(counted(1), "to"));
  const tune::tuned_kernel best = kernel.tune(fake.device().create_context());
  CHECK(best.best()["graphics_clock_mhz"] == 1200);
  CHECK(gpu->graphics_clock == 0);
  CHECK_FALSE(fake.launches().front().macros.defined("graphics_clock_mhz"));
}

TEST_CASE_FIXTURE(on_device, "a tuned kernel is an operation, alone and in a sequence") {
  const tune::tuned_kernel best = scaling_kernel().tune(context);
  auto op = best.instantiate(queue);
  CHECK(op.slot_names() == std::vector<std::string>{"to", "from"});
  CHECK(op.range().global == tune::work_size{1024});
  CHECK(op.range().local == tune::work_size{128});
  CHECK(to_string(op.parameters()) == "block_size_x=128, width=1");
  tune::operation_sequence twice(
      queue, {{"first", best.instantiate(queue)}, {"second", best.instantiate(queue)}},
      {{"between", {"first:to", "second:from"}}});
  twice.ensure_all_bound();
  const auto numbers = counted(1000);
  twice.buffer("first:from").set(queue, tune::host_array<float>::wrap_const(numbers, {1000}));
  twice.run();
  const auto quadrupled = twice.buffer("second:to").get<float>(queue);
  CHECK(quadrupled(999) == 4000);
}

TEST_CASE_FIXTURE(on_device, "one configuration is run once, and its results come back") {
  const bare_kernel kernel = scaling_kernel();
  const tune::kernel_results results = kernel.run(context, chosen(256, 3));
  CHECK(results.get<float>(0)(10) == 22);
  CHECK(results.get<float>(1)(10) == 11);
  CHECK_THROWS_AS(results.get<float>(2), tune::argument_error);
  CHECK_THROWS_AS(results.get<int>(0), tune::type_error);
  CHECK_THROWS_WITH_AS(kernel.run(context, {{"width", 1}}),
                       "the configuration width=1 of the kernel 'scale' has no 'block_size_x'",
                       tune::argument_error);
  auto op = kernel.instantiate(queue, chosen(32, 1));
  op.ensure_all_bound();
  op.buffer("from").fill(queue, 1.5F);
  op.set_value(2, scaling{4.0F, 10});
  op.run();
  CHECK(op.results().get<float>(0)(9) == 6);
  CHECK_THROWS_AS(op.set_value(2, 1.0F), tune::argument_error);
  CHECK_THROWS_AS(op.set_value(0, scaling{}), tune::argument_error);
}

TEST_CASE_FIXTURE(on_device, "parameters, the grid and what define adds become macros") {
  auto kernel = scaling_kernel();
  kernel.define("type", std::string("float"));
  kernel.define("twice", [](const configuration& at) { return tune::value(at["width"] * 2); });
  kernel.run(context, chosen(64, 2));
  const auto macros = fake.launches().back().macros;
  CHECK(macros.integer("block_size_x") == 64);
  CHECK(macros.integer("twice") == 4);
  CHECK(macros.text("type") == "float");
  CHECK(macros.integer("kernel_tuner") == 1);
  CHECK_FALSE(macros.defined("grid_size_x"));  // which the text does not mention
  bare_kernel mentions({.name = "scale",
                        .source =
                            [](const configuration& at) {
                              return "grid_size_x block_size_y // " + std::to_string(at["width"]);
                            },
                        .problem_size = {"1000 + width"}});
  mentions.parameter("width", {2}).divide_grid_x({[](const configuration&) { return 100.0; }});
  mentions.define("block_size_x", std::int64_t{1});  // which the fake times ask for
  mentions.work_group("items", "block_size_y").local_memory("items * 4");
  mentions.arguments(tune::out<float>({1000}), counted(1000), scaling{2.0F, 1000});
  mentions.run(context, {{"items", 16}, {"block_size_y", 2}});
  const auto last = fake.launches().back();
  CHECK(last.macros.integer("grid_size_x") == 11);
  CHECK(last.range.global == tune::work_size{176, 2});
  CHECK(last.range.local == tune::work_size{16, 2});
  CHECK(last.range.local_memory_bytes == 64);
}

TEST_CASE_FIXTURE(on_device, "the whole part of each divisor and size counts, as in Kernel Tuner") {
  const auto groups_of = [&](const char* size, std::vector<tune::quantity> divisors,
                             const configuration& at) {
    bare_kernel kernel({.name = "scale", .source = "", .problem_size = {size}});
    kernel.define("width", std::int64_t{1}).divide_grid_x(std::move(divisors));
    kernel.parameter("w", {0, 37, 41}).parameter("step", {0.5, 2.5});
    kernel.work_group("items").local_memory("w / 2");
    kernel.define("block_size_x", std::int64_t{1});
    kernel.arguments(tune::out<float>({1000}), counted(1000), scaling{2.0F, 1000});
    kernel.run(context, at);
    const tune::nd_range range = fake.launches().back().range;
    CHECK(range.local_memory_bytes == static_cast<std::size_t>(at["w"]) / 2);
    return range.global.x / range.local.x;
  };
  const configuration at{{"w", 37}, {"step", 2.5}, {"items", 8.0}};
  CHECK(groups_of("1024", {"(w + 2) / 8"}, at) == 256);          // not 1024 / 4.875
  CHECK(groups_of("1024", {"(w + 2) / 8", "step"}, at) == 128);  // 4 * 2, not 4.875 * 2.5
  CHECK(groups_of("w / 2", {}, at) == 18);                       // not refused
  CHECK(groups_of("1000", {[](const configuration&) { return 2.5; }}, at) == 400);
  CHECK_THROWS_WITH_AS(groups_of("1024", {"step / 5"}, at),
                       doctest::Contains("the problem size along x is divided by 0"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(groups_of("1024", {}, {{"w", 37}, {"step", 2.5}, {"items", 8.5}}),
                       "the work group's extent 'items' is 8.5, no whole number",
                       tune::argument_error);
}

TEST_CASE_FIXTURE(on_device, "restrictions are texts or functions, and shrink the space") {
  auto kernel = scaling_kernel();
  CHECK(kernel.space().size() == 9);
  auto restricted = kernel;
  restricted.restrict("block_size_x * width <= 128 and width != 4");
  CHECK(restricted.space().size() == 5);
  restricted.restrict([](const configuration& at) { return at["block_size_x"] != 32; });
  CHECK(restricted.space().size() == 3);
  restricted.restrict([](const configuration& at) { return at["width"] == 2; }, "two", {"width"});
  CHECK(restricted.space().size() == 1);
  CHECK(restricted.space().removals().back().description == "two");
  CHECK(kernel.space().size() == 9);
  CHECK(restricted.tune(context).best() == chosen(64, 2));
  CHECK_THROWS_AS(kernel.restrict("width <"), tune::argument_error);
  kernel.restrict("widht < 2");
  CHECK_THROWS_WITH_AS(kernel.tune(context),
                       "the expression 'widht < 2' reads 'widht', which is no parameter; the "
                       "parameters are block_size_x, width",
                       tune::argument_error);
}

TEST_CASE_FIXTURE(on_device, "the author of a bare kernel decides on its search") {
  auto kernel = scaling_kernel();
  kernel.search({.max_count = 3});
  CHECK(kernel.tune(context).trials().size() == 3);
}

TEST_CASE_FIXTURE(on_device, "a bare kernel is tuned for another goal than time") {
  auto kernel = scaling_kernel();
  kernel.metric("per_item", "time * block_size_x / 32", "ns").goal("min per_item, columns <= 2");
  kernel.metric("columns", "width");
  const auto best = kernel.tune(context);
  CHECK(best.best()["block_size_x"] == 32);
  const auto winner =
      std::ranges::find(best.trials(), best.best().values(), &tune::trial::configuration);
  REQUIRE(winner != best.trials().end());
  CHECK(tune::metric_value(*winner, "per_item") == doctest::Approx(best.time()->count()));
  CHECK_THROWS_AS(kernel.goal("best"), tune::argument_error);
  CHECK_THROWS_AS(kernel.metric("a", "1 +"), tune::argument_error);
}

TEST_CASE_FIXTURE(on_device, "a function verifies, alone and beside answers") {
  auto kernel = scaling_kernel();
  kernel.set_arguments({tune::out(counted(1000)), tune::in(counted(1000)),
                        tune::detail::to_argument(scaling{2.0F, 1000})});
  int calls = 0;
  kernel.verify([&](const tune::kernel_results& results) -> std::optional<std::string> {
    ++calls;
    const auto sum = results.get<float>(0);
    if (sum(2) == 2 * results.get<float>(1)(2)) return std::nullopt;
    return "the third is wrong";
  });
  const auto best = kernel.tune(context);
  CHECK(calls >= 9);
  CHECK(best.best() == chosen(128, 1));
  const auto wrong =
      std::ranges::find(best.trials(), tune::outcome::wrong_result, &tune::trial::outcome);
  REQUIRE(wrong != best.trials().end());
  CHECK(wrong->reason.find("the third is wrong") != std::string::npos);
}

TEST_CASE_FIXTURE(on_device, "a function measures in place of the device's times") {
  auto kernel = scaling_kernel().restrict("width < 4");
  kernel.measure_by([](const tune::tuning_command_queue&,
                       const std::shared_ptr<tune::bare_operation>& op) -> tune::measure {
    const auto width = op->configuration()["width"];
    const auto block = op->configuration()["block_size_x"];
    if (block == 128) return tune::measure::skipped("too large");
    return tune::make_measure([op, width, block](int iterations) {
      for (int i = 0; i < iterations; ++i) op->run();
      return 1e-3 / static_cast<double>(width) + 1e-6 * static_cast<double>(block);
    });
  });
  const auto best = kernel.tune(context);
  CHECK(best.best() == chosen(32, 2));
  CHECK(best.time()->count() == doctest::Approx(0.532e6));
}

TEST_CASE_FIXTURE(on_device, "a configuration over a limit is not compiled") {
  auto kernel = scaling_kernel();
  kernel.parameter("block_size_y", {1, 32}).local_memory("width * 20000");
  const auto best = kernel.tune(context);
  for (const tune::trial& each : best.trials()) {
    const configuration at(each.configuration);
    const bool is_over = at["block_size_x"] * at["block_size_y"] > 1024 || at["width"] == 4;
    CHECK((each.outcome == tune::outcome::over_limit) == is_over);
  }
}

TEST_CASE_FIXTURE(on_device, "a bare kernel declares its work, from which trials have figures") {
  auto kernel = scaling_kernel();
  kernel.work({.bytes = 8000});
  const auto best = kernel.tune(context);
  const auto winner =
      std::ranges::find(best.trials(), best.best().values(), &tune::trial::configuration);
  REQUIRE(winner != best.trials().end());
  CHECK(tune::metric_value(*winner, "gbs") == doctest::Approx(8000 / best.time()->count()));
  CHECK_THROWS_AS(kernel.work({.flops = -1}), tune::argument_error);
}

TEST_CASE_FIXTURE(on_device, "work is a formula of parameters, macros and problem size") {
  auto kernel = scaling_kernel();
  const auto figure = [&](const bare_kernel& of, const char* name) {
    const auto best = of.tune(context);
    REQUIRE(!best.trials().empty());
    return tune::metric_value(best.trials().front(), name);
  };
  kernel.define("per_item", std::int64_t{3});
  kernel.work("1.0 * per_item * problem_size_x", "8.0 * problem_size_x");
  CHECK(figure(kernel, "flops") == 3000);
  CHECK(figure(kernel, "bytes") == 8000);
  kernel.work("0 * width", [](const configuration& at) { return 2000.0 * at["width"]; });
  CHECK(figure(kernel, "bytes") > 0);
  kernel.work({.bytes = 10});
  CHECK(figure(kernel, "bytes") == 10);
}

TEST_CASE_FIXTURE(on_device,
                  "the work of a kernel reads no unknown name, and is no negative number") {
  auto kernel = scaling_kernel();
  kernel.work("2.0 * m", "8.0 * problem_size_x");
  CHECK_THROWS_WITH_AS(
      kernel.tune(context),
      doctest::Contains("the work of the kernel 'scale' reads 'm', which is no parameter, no name "
                        "of the key, no macro and no problem size; there are block_size_x, width"),
      tune::argument_error);
  CHECK_THROWS_AS(kernel.work("2.0 *", 0), tune::argument_error);
  kernel.work("-1.0 * width", 0);
  CHECK_THROWS_WITH(kernel.tune(context),
                    doctest::Contains("the operations of the kernel 'scale' are -1"));
}

TEST_CASE_FIXTURE(on_device, "an output is written as in and inout are, by a function") {
  auto kernel = scaling_kernel();
  const auto numbers = [] { return counted(1000); };
  kernel.arguments(tune::out({1000}, numbers, "to"), tune::in({1000}, numbers, "from"),
                   scaling{2.0F, 1000});
  CHECK(kernel.run(context, chosen(32, 1)).get<float>(0)(10) == 22);
  CHECK(kernel.instantiate(queue, chosen(32, 1)).slot_names() ==
        std::vector<std::string>{"to", "from"});
}

TEST_CASE("a configuration has values of every type, by name") {
  configuration at{
      {"whole", 3}, {"real", 0.5}, {"on", true}, {"text", "fast"}, {"big", std::uint64_t{7}}};
  CHECK(at["whole"] == 3);
  CHECK(at["on"] == 1);
  CHECK(at["big"] == 7);
  CHECK(at.number("whole") == 3);
  CHECK(at.number("real") == 0.5);
  CHECK(at.text("text") == "fast");
  CHECK_THROWS_AS(at["real"], tune::type_error);
  CHECK_THROWS_AS(at.text("whole"), tune::type_error);
  CHECK_THROWS_AS(at["none"], tune::argument_error);
  CHECK_THROWS_AS(configuration({{"a", 1}, {"a", 2}}), tune::argument_error);
  at.set("whole", 4.0);
  CHECK(at.number("whole") == 4);
  CHECK_FALSE(at.has("new"));
}

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
  kernel.divide_grid_x({[](const configuration&) { return 1e-300; }});
  CHECK_THROWS_WITH_AS(kernel.run(on.context, chosen(32, 1)),
                       doctest::Contains("these are too many work groups"), tune::argument_error);
  CHECK_THROWS_WITH_AS(scaling_kernel().local_memory("width - 2").run(on.context, chosen(32, 1)),
                       "the dynamic local memory 'width - 2' is -1 for block_size_x=32, width=1, "
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

}  // namespace bare_kernel_test
