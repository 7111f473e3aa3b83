// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The first half of docs/tutorial.md: tutorial_diffusion [<rows and columns>], run in the top
// folder of the sources. It tunes three ways to advance a field, and advances it with the best.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "libtune/child.hpp"
#include "libtune/console.hpp"
#include "libtune/extra/bare.hpp"
#include "libtune/libtune.hpp"

namespace {

std::vector<float> make_field(std::size_t n) {
  std::vector<float> field(n * n);
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = static_cast<float>(i * 7919 % 1000);
  return field;
}

// [tuner]
const tune::kernel_tuner diffuse("tutorial.diffuse", 0, [](const tune::configuration& key) {
  const auto n = static_cast<std::size_t>(key["n"]);
  const auto field = [n] { return make_field(n); };
  tune::bare_kernel kernel({.name = "diffuse",
                            .source = tune::kernel_file("examples/diffusion/tiled.kernel"),
                            .problem_size = {n, n}});
  kernel.parameter("block_size_x", {16, 32, 48, 64, 128});
  kernel.parameter("block_size_y", {2, 4, 8, 16, 32});
  kernel.parameter("tile_size_x", {1, 2, 4}).parameter("tile_size_y", {1, 2, 4});
  kernel.divide_grid_x({"block_size_x", "tile_size_x"});
  kernel.divide_grid_y({"block_size_y", "tile_size_y"});
  kernel.arguments(tune::inout({n * n}, field, "u_new"), tune::in({n * n}, field, "u"),
                   static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n), 0.225F);
  return kernel;
});
// [tuner]

void tune_all(const tune::context& context, std::size_t n) {
  const std::vector<float> field = make_field(n);
  const auto width = static_cast<std::uint32_t>(n);
  // [naive]
  tune::bare_kernel naive({.name = "diffuse",
                           .source = tune::kernel_file("examples/diffusion/naive.kernel"),
                           .problem_size = {n, n}});
  naive.parameter("block_size_x", {16, 32, 48, 64, 128});
  naive.parameter("block_size_y", {2, 4, 8, 16, 32});
  naive.arguments(tune::inout(field, "u_new"), tune::in(field, "u"), width, width, 0.225F);
  const tune::tuned_kernel fastest = naive.tune(context);
  // [naive]

  // [trials]
  for (const tune::trial& each : fastest.trials()) {
    std::cout << to_string(each.configuration) << ": "
              << (each.score ? tune::format_run_time(*each.score) : each.reason) << '\n';
  }
  std::cout << "best: " << to_string(fastest.best().values()) << '\n';
  // [trials]

  // [shared]
  tune::bare_kernel shared({.name = "diffuse",
                            .source = tune::kernel_file("examples/diffusion/shared.kernel"),
                            .problem_size = {n, n}});
  shared.parameter("block_size_x", {16, 32, 48, 64, 128});
  shared.parameter("block_size_y", {2, 4, 8, 16, 32});
  shared.restrict("block_size_x * block_size_y <= 1024");
  shared.arguments(tune::inout(field, "u_new"), tune::in(field, "u"), width, width, 0.225F);
  std::cout << "through local memory: " << to_string(shared.tune(context).best().values()) << '\n';
  // [shared]
}

void advance(const tune::context& context, std::size_t n) {
  // [run]
  const tune::tuned_kernel best = diffuse(context, {{"n", n}});
  auto queue = context.create_command_queue();
  auto step = best.instantiate(queue);
  const std::vector<float> field = make_field(n);
  step.ensure_all_bound();
  for (const char* name : {"u", "u_new"}) {
    step.buffer(name).set(queue, tune::host_array<float>::wrap_const(field, {n * n}));
  }
  for (int i = 0; i < 1000; ++i) {
    step.run();
    const tune::device_array u = step.buffer("u");
    step.bind("u", step.buffer("u_new"));
    step.bind("u_new", u);
  }
  const auto advanced = step.buffer("u").get<float>(queue);
  // [run]

  // [timed]
  auto timed = context.create_tuning_command_queue();
  auto again = best.instantiate(timed);
  again.ensure_all_bound();
  const auto contents = tune::host_array<float>::copy_of(field, {n * n});
  again.buffer("u").set(timed, contents);
  again.buffer("u_new").set(timed, contents);
  const std::vector<tune::run_time> times = tune::make_measure(timed, std::move(again)).sample(15);
  // [timed]
  std::cout << "one step, once more: " << tune::format_run_time(times.front()) << '\n';
  const auto [least, most] = std::minmax_element(advanced.data(), advanced.data() + n * n);
  std::cout << "after 1000 steps the field lies between " << *least << " and " << *most << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  try {
    const std::size_t n = argc > 1 ? std::stoul(argv[1]) : 1024;
    const tune::context context = tune::select_device().create_context();
    tune_all(context, n);
    advance(context, n);
  } catch (const tune::no_device_error& failure) {
    std::cerr << failure.what() << '\n';
    return 2;
  } catch (const std::exception& failure) {
    std::cerr << "tutorial_diffusion: " << failure.what() << '\n';
    return 1;
  }
}
