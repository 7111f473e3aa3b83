// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Bare kernels on the devices of this machine, in child processes, and compiled for CUDA.
#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/extra/bare/bare_kernel.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"

namespace bare_device_test {

using tune::bare_kernel;
using tune::configuration;

constexpr const char* add_text = R"(
KERNEL void add(GLOBAL float* to, GLOBAL const float* a, GLOBAL const float* b, int n) {
  const int first = (int)get_group_id(0) * block_size_x * per_item + (int)get_local_id(0);
  for (int i = 0; i < per_item; ++i) {
    const int at = first + i * block_size_x;
    if (at < n) to[at] = a[at] + b[at];
  }
})";

bare_kernel add_kernel(const configuration& key) {
  const auto n = static_cast<std::size_t>(key["n"]);
  const std::vector<float> ones(n, 1.0F);
  bare_kernel kernel({.name = "add", .source = add_text, .problem_size = {n}});
  kernel.parameter("block_size_x", {16, 64}).parameter("per_item", {1, 4});
  kernel.divide_grid_x({"block_size_x", "per_item"});
  kernel.arguments(tune::out(ones), ones, ones, static_cast<std::int32_t>(n));
  return kernel.answer(0, std::vector<float>(n, 2.0F));
}

// Outside of functions, so that children have it.
const tune::kernel_tuner add("bare_device_test.add", 0, add_kernel, {{{"n", 100}}});

LIBTUNE_DEVICE_TEST_CASE("a bare kernel that a child process finds is tuned there", device) {
  const tune::testing::temporary_directory folder;
  const tune::testing::test_mode_guard mode(tune::testing::test_mode::off);
  const tune::context context = device.create_context();
  const tune::tuning_options options{.database = (folder / "tuning.db").string(),
                                     .isolation = tune::isolation_mode::on};
  const auto best = add(context, {{"n", 3000}}, options);
  REQUIRE(best.trials().size() == 4);
  for (const tune::trial& each : best.trials()) {
    CHECK(each.outcome == tune::outcome::measured);
    CHECK(each.score.has_value());
  }
  CHECK(best.run(context).get<float>(0)(2999) == 2);
  CHECK(add(context, {{"n", 3000}}, options).trials().empty());
  auto nowhere = add_kernel({{"n", 3000}});
  nowhere.remember({"bare_device_test.other", 0, {{"n", 3000}}});
  CHECK_THROWS_AS(nowhere.tune(context, options), tune::error);
}

const tune::kernel_tuner short_of_one(
    "bare_device_test.short_of_one", 0, [](const configuration& key) {
      const std::vector<float> ones(static_cast<std::size_t>(key["n"]), 1.0F);
      return add_kernel(key).arguments(tune::out(ones), ones, ones);
    });

LIBTUNE_DEVICE_TEST_CASE("a mistake of all configurations ends a search in a child, too", device) {
  const tune::testing::temporary_directory folder;
  const tune::testing::test_mode_guard mode(tune::testing::test_mode::off);
  const tune::tuning_options options{.database = (folder / "tuning.db").string(),
                                     .isolation = tune::isolation_mode::on};
  CHECK_THROWS_WITH_AS(short_of_one(device.create_context(), {{"n", 100}}, options),
                       doctest::Contains("the kernel 'add' takes 4 arguments, and 3 are given"),
                       tune::argument_error);
}

TEST_CASE("a kernel tuner with an example is listed with the fields that the example has") {
  const auto functions =
      tune::list_functions({.path = "/proc/self/exe", .arguments = {"bare_tests"}});
  const auto found = std::ranges::find_if(functions, [](const tune::remote_function& each) {
    return each.identity.name == "bare_device_test.add";
  });
  REQUIRE(found != functions.end());
  REQUIRE(found->identity.key_fields.size() == 1);
  CHECK(found->identity.key_fields[0].name == "n");
  CHECK(found->identity.value_fields.size() == 2);
  CHECK(to_string(found->test_default) == "block_size_x=16, per_item=1");
}

LIBTUNE_DEVICE_TEST_CASE("a bare kernel's arrays may lie on the device", device) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  const tune::typed_array<float> threes(context, {10, 10});
  threes.fill(queue, 3.0F);
  queue.finish();
  bare_kernel kernel({.name = "add", .source = add_text, .problem_size = {100}});
  kernel.define("per_item", std::int64_t{1}).arguments(tune::out(threes), threes, threes, 100);
  const auto sums = kernel.run(context, {{"block_size_x", 32}}).get<float>(0);
  CHECK(sums(9, 9) == 6);
}

constexpr const char* smooth_opencl = R"(
KERNEL void smooth(GLOBAL float* to, read_only image2d_t from, sampler_t how,
                   CONSTANT float* weights) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  float sum = 0;
  for (int i = -1; i <= 1; ++i) {
    sum += weights[i + 1] * read_imagef(from, how, (float2)(x + i + 0.5f, y + 0.5f)).x;
  }
  to[y * 16 + x] = sum;
})";
constexpr const char* smooth_cuda = R"(
__constant__ float weights[3];
extern "C" __global__ void smooth(float* to, cudaTextureObject_t from) {
  const int x = blockIdx.x * block_size_x + threadIdx.x;
  const int y = blockIdx.y * block_size_y + threadIdx.y;
  float sum = 0;
  for (int i = -1; i <= 1; ++i) sum += weights[i + 1] * tex2D<float>(from, x + i + 0.5f, y + 0.5f);
  to[y * 16 + x] = sum;
})";

bare_kernel smooth_kernel(bool is_cuda) {
  std::vector<float> pixels(16 * 8);
  std::vector<float> expected(pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * i % 23);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const float left = pixels[i % 16 == 0 ? i : i - 1];
    const float right = pixels[i % 16 == 15 ? i : i + 1];
    expected[i] = 0.25F * left + 0.5F * pixels[i] + 0.25F * right;
  }
  const std::vector<float> weights{0.25F, 0.5F, 0.25F};
  bare_kernel kernel(
      {.name = "smooth", .source = is_cuda ? smooth_cuda : smooth_opencl, .problem_size = {16, 8}});
  kernel.parameter("block_size_x", {4, 16}).parameter("block_size_y", {1, 2});
  const auto image = tune::texture(pixels, {.width = 16, .height = 8});
  if (is_cuda) {
    kernel.arguments(tune::out(pixels), image).constant("weights", weights);
  } else {
    kernel.arguments(tune::out(pixels), image, tune::sampler(image), tune::in(weights));
  }
  return kernel.answer(0, expected);
}

LIBTUNE_DEVICE_TEST_CASE("a bare kernel reads images and constant memory", device) {
  const bare_kernel kernel = smooth_kernel(device.info().backend == "CUDA");
  const auto best = kernel.tune(device.create_context(), {.isolation = tune::isolation_mode::off});
  REQUIRE(best.trials().size() == 4);
  for (const tune::trial& each : best.trials()) {
    CAPTURE(each.reason);
    CHECK(each.outcome == tune::outcome::measured);
  }
}

TEST_CASE("bare kernels with textures and constant memory compile for CUDA") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    CHECK_NOTHROW(
        smooth_kernel(true).compile(context, {{"block_size_x", 16}, {"block_size_y", 2}}));
  });
}

constexpr const char* scale_text = R"(
KERNEL void scale(GLOBAL float* to, GLOBAL const float* from, float by, int n) {
  const int at = (int)get_global_id(0);
  if (at >= n) return;
#if cheats == 1
  to[at] = from[at] > 100.0f ? 100.0f * by : from[at] * by;
#elif cheats == 2
  to[at] = 3.0f;
#else
  to[at] = from[at] * by;
#endif
})";

bare_kernel scale_kernel() {
  constexpr std::int32_t n = 500;
  const std::vector<float> contents(n, 1.5F);
  bare_kernel kernel({.name = "scale", .source = scale_text, .problem_size = {n}});
  kernel.parameter("cheats", {0, 1, 2}).parameter("block_size_x", {64});
  kernel.arguments(tune::out(contents), contents, 2.0F, n);
  return kernel;
}

LIBTUNE_DEVICE_TEST_CASE("a reference kernel gives the answers, for other contents as well",
                         device) {
  bare_kernel plain = scale_kernel();
  bare_kernel kernel = scale_kernel();
  const auto outcomes = [&] {
    const auto best = kernel.tune(device.create_context(), {.isolation = tune::isolation_mode::off,
                                                            .strategy = "exhaustive"});
    std::vector<std::string> reasons(3);
    for (const tune::trial& each : best.trials()) {
      const auto cheats = static_cast<std::size_t>(configuration(each.configuration)["cheats"]);
      reasons.at(cheats) = each.reason;
    }
    return reasons;
  };
  kernel.reference(plain, {{"cheats", 0}});
  CHECK(outcomes() == std::vector<std::string>{"", "", ""});
  kernel.vary({1}, {tune::input_kind::shuffled, tune::input_kind::zeros});
  CHECK(outcomes()[1].empty());
  CHECK(outcomes()[2].starts_with("with the inputs 'zeros': 'argument_0': 500 of 500 elements"));
  kernel.vary({1}, {tune::input_kind::extremes});
  const auto reasons = outcomes();
  CHECK(reasons[0].empty());
  CHECK(reasons[1].starts_with("with the inputs 'extremes': 'argument_0': 250 of 500 elements"));
  CHECK_FALSE(reasons[2].empty());
}

/// Copies numbers, rounded to a unit that depends on the configuration.
bare_kernel rounding_kernel(const std::vector<float>& contents) {
  const auto n = static_cast<std::int32_t>(contents.size());
  bare_kernel kernel({.name = "rounded",
                      .source = R"(
KERNEL void rounded(GLOBAL float* to, GLOBAL const float* from, int n) {
  const int at = (int)get_global_id(0);
  if (at >= n) return;
  const float unit = precision == 8 ? 1.0f : precision == 16 ? 0.0078125f : 0.0f;
  to[at] = unit == 0.0f ? from[at] : rint(from[at] / unit) * unit;
})",
                      .problem_size = {n}});
  kernel.parameter("precision", {8, 16, 32}).parameter("block_size_x", {64});
  kernel.arguments(tune::out(contents), contents, n);
  return kernel.answer(0, contents, {.absolute = 1});
}

std::vector<float> uneven_numbers() {
  std::vector<float> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = 0.37F * static_cast<float>(i) + 1.0F;
  }
  return numbers;
}

LIBTUNE_DEVICE_TEST_CASE("precision is a parameter, and a goal may bound its error", device) {
  bare_kernel kernel = rounding_kernel(uneven_numbers());
  kernel.report_accuracy().goal("min time, snr >= 80 dB");
  const auto best = kernel.tune(device.create_context(),
                                {.isolation = tune::isolation_mode::off, .strategy = "exhaustive"});
  REQUIRE(best.trials().size() == 3);
  double last = 0;
  for (const std::int64_t precision : {8, 16, 32}) {
    const auto of = std::ranges::find_if(best.trials(), [&](const tune::trial& each) {
      return configuration(each.configuration)["precision"] == static_cast<double>(precision);
    });
    CAPTURE(precision);
    REQUIRE(of != best.trials().end());
    const double ratio = tune::metric_value(*of, "snr");
    CHECK(ratio > last);
    last = ratio;
    CHECK((of->outcome == tune::outcome::unfit) == (precision == 8));
    if (precision == 8) {
      CHECK(of->reason.starts_with("its snr is "));
      CHECK(of->reason.ends_with(" dB; 80 or more is asked for"));
    }
  }
  CHECK(last == tune::accuracy::most_decibels);
  CHECK(best.best()["precision"] > 8);
}

LIBTUNE_DEVICE_TEST_CASE("a goal of accuracy has every configuration checked", device) {
  for (const tune::result_check asked : {tune::result_check::finalists, tune::result_check::none}) {
    bare_kernel kernel = rounding_kernel(uneven_numbers());
    kernel.report_accuracy().goal("min time, max snr");
    const auto best = kernel.tune(
        device.create_context(),
        {.isolation = tune::isolation_mode::off, .verify = asked, .strategy = "exhaustive"});
    REQUIRE(best.trials().size() == 3);
    for (const tune::trial& each : best.trials()) {
      CHECK(tune::find_metric(each.metrics, "snr") != nullptr);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("a goal of accuracy that nothing reports ends the search, with the remedy",
                         device) {
  for (const char* goal : {"min time, snr >= 80 dB", "max snr", "min time, min ulps"}) {
    CAPTURE(goal);
    bare_kernel kernel = rounding_kernel(uneven_numbers());
    kernel.goal(goal);
    CHECK_THROWS_WITH_AS(
        kernel.tune(device.create_context(),
                    {.isolation = tune::isolation_mode::off, .strategy = "exhaustive"}),
        doctest::Contains("the author's function reports none: give make_measure a workload and "
                          "an answer with report_accuracy()"),
        tune::argument_error);
  }
}

/// Sums of four numbers in an order that depends on the configuration.
bare_kernel sums_kernel(std::size_t n) {
  bare_kernel kernel({.name = "sums",
                      .source = R"(
KERNEL void sums(GLOBAL float* to, GLOBAL const float* from, int n) {
  const int at = (int)get_global_id(0);
  if (at >= n) return;
  const float a = from[4 * at], b = from[4 * at + 1], c = from[4 * at + 2], d = from[4 * at + 3];
#if order == 0
  to[at] = ((a + b) + c) + d;
#elif order == 1
  to[at] = (a + b) + (c + d);
#else
  to[at] = ((b + a) + c) + d;
#endif
})",
                      .problem_size = {n}});
  kernel.parameter("order", {0, 1, 2}).parameter("block_size_x", {64});
  std::vector<float> contents(4 * n);
  std::vector<float> expected(n);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    contents[i] = 1.0F / static_cast<float>(i % 97 + 1);
    expected[i / 4] += contents[i];
  }
  kernel.arguments(tune::out(expected), contents, static_cast<std::int32_t>(n));
  return kernel.answer(0, expected, {.absolute = 0, .relative = 1e-5});
}

LIBTUNE_DEVICE_TEST_CASE("configurations with other bits than the test default do not win",
                         device) {
  for (const std::size_t n : {std::size_t{1000}, std::size_t{300'000}}) {  // host, and device
    CAPTURE(n);
    bare_kernel kernel = sums_kernel(n);
    kernel.test_default({{"order", 2}, {"block_size_x", 64}}).goal("min time, same bits");
    const auto best = kernel.tune(device.create_context(), {.isolation = tune::isolation_mode::off,
                                                            .strategy = "exhaustive"});
    REQUIRE(best.trials().size() == 3);
    for (const tune::trial& each : best.trials()) {
      const double order = configuration(each.configuration)["order"];
      CAPTURE(order);
      CAPTURE(each.reason);
      CHECK((each.outcome == tune::outcome::unfit) == (order == 1));
      CHECK(tune::find_metric(each.metrics, tune::bits_metric) != nullptr);
      if (order == 1) {
        CHECK(each.reason ==
              "its results have other bits than those of the test default (order=2, "
              "block_size_x=64)");
      }
    }
    CHECK(best.best()["order"] != 1);
  }
}

LIBTUNE_DEVICE_TEST_CASE("digests of results are reported without a goal, where they are asked for",
                         device) {
  bare_kernel kernel = sums_kernel(1000);
  const tune::context context = device.create_context();
  const tune::tuning_options options{.isolation = tune::isolation_mode::off,
                                     .strategy = "exhaustive"};
  const auto bits = [&](double order) {
    const auto best = kernel.tune(context, options);
    const auto of = std::ranges::find_if(best.trials(), [&](const tune::trial& each) {
      return configuration(each.configuration)["order"] == order;
    });
    REQUIRE(of != best.trials().end());
    CHECK(of->outcome == tune::outcome::measured);
    const tune::metric* const own = tune::find_metric(of->metrics, tune::bits_metric);
    return own != nullptr ? own->value : 0;
  };
  CHECK(bits(0) == 0);
  kernel.report_bits();
  CHECK(bits(0) != 0);
  CHECK(bits(0) == bits(2));
  CHECK(bits(0) != bits(1));
}

LIBTUNE_DEVICE_TEST_CASE("a goal of the same bits that cannot be judged fails, with the reason",
                         device) {
  const tune::context context = device.create_context();
  const tune::tuning_options options{.isolation = tune::isolation_mode::off,
                                     .strategy = "exhaustive"};
  bare_kernel outside = sums_kernel(1000);
  outside.restrict("order < 2").test_default({{"order", 2}, {"block_size_x", 64}});
  outside.goal("min time, same bits");
  CHECK_THROWS_WITH_AS(outside.tune(context, options),
                       doctest::Contains("which are unknown: it is not in the space"),
                       tune::tuning_failed_error);
  bare_kernel varying = sums_kernel(1000);
  varying.nondeterministic().goal("min time, same bits");
  CHECK_THROWS_WITH_AS(varying.tune(context, options),
                       doctest::Contains("no workload with outputs, or its results vary"),
                       tune::tuning_failed_error);
}

TEST_CASE("what cannot be varied or be a reference is refused, in words") {
  bare_kernel kernel = scale_kernel();
  CHECK_THROWS_WITH_AS(kernel.vary({2}, {tune::input_kind::zeros}),
                       "argument 2 of the kernel 'scale', of 4, is no array with contents that "
                       "could be varied; set the arguments before",
                       tune::argument_error);
  CHECK_THROWS_AS(kernel.reference(scale_kernel()), tune::argument_error);
}

TEST_CASE("an image of another size than its elements is refused") {
  CHECK_THROWS_WITH_AS(tune::texture(std::vector<float>(7), {.width = 4, .height = 2}),
                       doctest::Contains("has 32 bytes, and 28 were given"), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("compiled kernels over a limit do not run", device) {
  bare_kernel kernel({.name = "shifted",
                      .source = "KERNEL void shifted(GLOBAL float* to) {"
                                "  LOCAL_DECL float tile[block_size_x * 2];"
                                "  const uint at = get_local_id(0);"
                                "  tile[at] = at; tile[at + block_size_x] = at; BARRIER();"
                                "  to[get_global_id(0)] = tile[block_size_x * 2 - 1 - at]; }",
                      .problem_size = {256}});
  kernel.parameter("block_size_x", {16, 32}).arguments(tune::out<float>({256}));
  kernel.limit("local_memory <= 200 and no_such_figure > 2");
  const auto best = kernel.tune(device.create_context());
  REQUIRE(best.trials().size() == 2);
  for (const tune::trial& each : best.trials()) {
    if (each.outcome == tune::outcome::measured) {
      // Some drivers do not tell it of the larger one.
      const tune::metric* told = tune::find_metric(each.metrics, "local_memory");
      CHECK((told == nullptr || told->value <= 200));
      continue;
    }
    CHECK(each.outcome == tune::outcome::skipped);
    CHECK(best.best()["block_size_x"] == 16);
    // NVIDIA's OpenCL takes 4 bytes more than are asked for.
    CHECK(each.reason.starts_with("local_memory=2"));
    CHECK(each.reason.ends_with(", and 'local_memory <= 200' is asked for"));
  }
}

LIBTUNE_DEVICE_TEST_CASE("a bare kernel includes headers that are texts", device) {
  bare_kernel kernel({.name = "filled",
                      .source =
                          "#include \"seven.h\"\n"
                          "KERNEL void filled(GLOBAL float* to) { to[get_global_id(0)] = SEVEN; }",
                      .problem_size = {64},
                      .headers = {{"seven.h", "#define SEVEN 7.0f\n"}}});
  kernel.arguments(tune::out<float>({64}));
  const tune::context context = device.create_context();
  CHECK(kernel.run(context, {{"block_size_x", 16}}).get<float>(0)(63) == 7);
}

LIBTUNE_DEVICE_TEST_CASE("a bare kernel has dynamic local memory by its parameters", device) {
  bare_kernel kernel(
      {.name = "turned",
       .source = "KERNEL void turned(GLOBAL int* data DYNAMIC_LOCAL_PARAMETER(int, tile)) {"
                 "  DYNAMIC_LOCAL_DECL(int, tile);"
                 "  const int at = get_local_id(0);"
                 "  tile[at] = data[get_global_id(0)]; BARRIER();"
                 "  data[get_global_id(0)] = tile[block_size_x - 1 - at]; }",
       .problem_size = {64}});
  std::vector<std::int32_t> numbers(64);
  std::iota(numbers.begin(), numbers.end(), 0);
  kernel.parameter("block_size_x", {16, 32}).local_memory("block_size_x * 4");
  kernel.arguments(tune::inout(numbers));
  const tune::context context = device.create_context();
  CHECK(kernel.run(context, {{"block_size_x", 16}}).get<std::int32_t>(0)(0) == 15);
  CHECK(kernel.run(context, {{"block_size_x", 32}}).get<std::int32_t>(0)(0) == 31);
}

LIBTUNE_DEVICE_TEST_CASE("plain OpenCL C is taken as it is" * tune::testing::opencl_only(),
                         device) {
  bare_kernel kernel({.name = "filled",
                      .source = "__kernel void filled(__global int* to) {"
                                "  to[get_global_id(0)] = block_size_x + grid_size_x; }",
                      .problem_size = {64}});
  kernel.parameter("block_size_x", {16}).arguments(tune::out<std::int32_t>({64}));
  CHECK(kernel.run(device.create_context(), {}).get<std::int32_t>(0)(63) == 20);
}

LIBTUNE_DEVICE_TEST_CASE("an instance of a CUDA template is tuned" * tune::testing::cuda_only(),
                         device) {
  bare_kernel kernel({.name = "filled<type, {block_size_x * 2}>",
                      .source = "template <class T, int N> __global__ void filled(T* to) {"
                                "  to[blockIdx.x * blockDim.x + threadIdx.x] = N; }",
                      .problem_size = {256}});
  kernel.parameter("block_size_x", {32, 64}).parameter("type", {"float"});
  kernel.arguments(tune::out<float>({256}));
  const tune::context context = device.create_context();
  const auto best = kernel.tune(context);
  CHECK(best.trials().size() == 2);
  const auto twice = static_cast<float>(2 * best.best()["block_size_x"]);
  CHECK(best.run(context).get<float>(0)(255) == twice);
}

TEST_CASE("kernels of CUDA C++ are compiled as they are, templates with tuned values too") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    const auto compile = [&](const char* name, const char* text, const char* filled) {
      bare_kernel kernel({.name = name, .source = text, .problem_size = {64}});
      kernel.parameter("block_size_x", {32}).parameter("type", {"float"});
      kernel.parameter("loop_unroll_factor_0", {4}).parameter("loop_unroll_factor_1", {0});
      CHECK_NOTHROW(kernel.compile(context, {}).create_kernel(filled));
    };
    compile("plain", "__global__ void plain(float* to) { to[threadIdx.x] = block_size_x; }",
            "plain");
    compile("unrolled", R"(extern "C" __global__ void unrolled(float* to) {
      #pragma unroll loop_unroll_factor_0
      for (int i = 0; i < 64; ++i) to[threadIdx.x + block_size_x * i] = grid_size_x;
      #pragma unroll loop_unroll_factor_1
      for (int i = 0; i < 64; ++i) to[threadIdx.x + block_size_x * i] += 1;
    })",
            "unrolled");
    compile("app::filled<type, {block_size_x * 2}>", R"(namespace app {
      template <class T, int N> __global__ void filled(T* to) { to[threadIdx.x] = N; }
    })",
            "app::filled<float, 64>");
  });
}

}  // namespace bare_device_test
