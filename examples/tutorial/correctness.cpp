// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The second half of docs/tutorial.md: tutorial_correctness [<rows and columns>], run in the top
// folder of the sources. It tunes kernels whose results are checked.
#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "libtune/child.hpp"
#include "libtune/extra/bare.hpp"
#include "libtune/libtune.hpp"

namespace {

std::vector<float> make_numbers(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i * 7919 % 1000) / 1000;
  return numbers;
}

constexpr std::int64_t filter_rows = 7;

tune::bare_kernel convolution_kernel(const std::string& name, std::size_t n) {
  const std::size_t edge = n + filter_rows - 1;
  tune::bare_kernel kernel({.name = name,
                            .source = tune::kernel_file("examples/tutorial/convolution.kernel"),
                            .problem_size = {n, n}});
  kernel.define("FILTER_SIZE", filter_rows);
  kernel.arguments(tune::out<float>({n * n}),
                   tune::in({edge * edge}, [=] { return make_numbers(edge * edge); }),
                   tune::in(make_numbers(filter_rows * filter_rows)), static_cast<int>(n));
  return kernel;
}

tune::host_array<float> trusted_convolution(const tune::context& context, std::size_t n) {
  const tune::bare_kernel naive = convolution_kernel("convolve_naive", n);
  return naive.run(context, {{"block_size_x", 16}, {"block_size_y", 8}}).get<float>(0);
}

const tune::kernel_tuner convolve("tutorial.convolve", 0, [](const tune::configuration& key) {
  const auto n = static_cast<std::size_t>(key["n"]);
  tune::bare_kernel kernel = convolution_kernel("convolve", n);
  kernel.parameter("block_size_x", {16, 32}).parameter("block_size_y", {4});
  kernel.parameter("tile_size_x", {1, 2}).divide_grid_x({"block_size_x", "tile_size_x"});
  // [tuner]
  kernel.answer(0, [n] { return trusted_convolution(tune::create_some_context(), n); },
                {.absolute = 1e-4});
  // [tuner]
  return kernel;
});

void tune_convolution(const tune::context& context, std::size_t n) {
  // [reference]
  constexpr std::size_t filter_size = 7;
  const std::vector<float> output(n * n);
  const std::vector<float> input = make_numbers((n + filter_size - 1) * (n + filter_size - 1));
  const std::vector<float> filter = make_numbers(filter_size * filter_size);
  const tune::kernel_source source = tune::kernel_file("examples/tutorial/convolution.kernel");

  tune::bare_kernel naive({.name = "convolve_naive", .source = source, .problem_size = {n, n}});
  naive.define("FILTER_SIZE", static_cast<std::int64_t>(filter_size));
  naive.arguments(tune::out(output), tune::in(input), tune::in(filter), static_cast<int>(n));
  const tune::kernel_results trusted =
      naive.run(context, {{"block_size_x", 16}, {"block_size_y", 8}});
  // [reference]

  // [answer]
  tune::bare_kernel kernel({.name = "convolve", .source = source, .problem_size = {n, n}});
  kernel.define("FILTER_SIZE", static_cast<std::int64_t>(filter_size));
  kernel.parameter("block_size_x", {16, 32, 64}).parameter("block_size_y", {2, 4, 8});
  kernel.parameter("tile_size_x", {1, 2, 4});
  kernel.divide_grid_x({"block_size_x", "tile_size_x"});
  kernel.arguments(tune::out(output), tune::in(input), tune::in(filter), static_cast<int>(n));
  kernel.answer(0, trusted.get<float>(0), {.absolute = 1e-4});
  const tune::tuned_kernel best = kernel.tune(context);
  // [answer]
  std::cout << "convolution: " << to_string(best.best().values()) << '\n';
}

void tune_sum(const tune::context& context, std::size_t count) {
  // [verify]
  const std::vector<float> numbers = make_numbers(count);
  const double expected = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  tune::bare_kernel kernel(
      {.name = "add_up",
       .source = tune::kernel_file("examples/verification/partial_sums.kernel"),
       .problem_size = {"num_groups"}});
  kernel.parameter("block_size", {64, 128, 256}).work_group("block_size");
  kernel.parameter("vector", {1, 2, 4}).parameter("num_groups", {16, 64, 256});
  kernel.divide_grid_x({});
  kernel.arguments(tune::inout(std::vector<float>(256)), tune::in(numbers),
                   static_cast<std::uint32_t>(count));
  kernel.verify([=](const tune::kernel_results& results) -> std::optional<std::string> {
    const tune::host_array<float> partial = results.get<float>(0);
    const double sum = std::accumulate(partial.data(), partial.data() + 256, 0.0);
    if (std::abs(sum - expected) <= 1e-5 * expected) return std::nullopt;
    return "the sum is " + std::to_string(sum) + ", not " + std::to_string(expected);
  });
  const tune::tuned_kernel best = kernel.tune(context);
  // [verify]
  std::cout << "sum: " << to_string(best.best().values()) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  try {
    const std::size_t n = argc > 1 ? std::stoul(argv[1]) : 1024;
    const tune::context context = tune::select_device().create_context();
    tune_convolution(context, n);
    const tune::tuned_kernel best = convolve(context, {{"n", n}});
    std::cout << "convolution by a tuner: " << to_string(best.best().values()) << '\n';
    tune_sum(context, n * n);
  } catch (const tune::no_device_error& failure) {
    std::cerr << failure.what() << '\n';
    return 2;
  } catch (const std::exception& failure) {
    std::cerr << "tutorial_correctness: " << failure.what() << '\n';
    return 1;
  }
}
