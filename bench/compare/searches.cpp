// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/compare/searches.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "bench/compare/convolution.hpp"
#include "examples/diffusion/diffusion.hpp"
#include "examples/diffusion/reference.hpp"
#include "libtune/extra/bare.hpp"
#include "libtune/kernel/preamble.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/transpose/transpose.hpp"

#include "naive.kernel.hpp"
#include "shared.kernel.hpp"
#include "tiled.kernel.hpp"

namespace compare {
namespace {

/// Keeps the last completed search.
class search_keeper final : public tune::observer {
 public:
  void search_started(const tune::search_started_event& event) override { record.started = event; }
  void search_finished(const tune::search_finished_event& event) override {
    record.finished = event;
  }
  search_record record;
};

/// Calls tune(options) with options that keep the search.
template <class Tune>
search_record time_search(tune::tuning_options options, Tune&& tune) {
  const auto keeper = std::make_shared<search_keeper>();
  options.observers.push_back(keeper);
  const auto start = std::chrono::steady_clock::now();
  tune(options);
  keeper->record.elapsed = std::chrono::steady_clock::now() - start;
  return std::move(keeper->record);
}

tune::tuning_session make_session(const tune::context& context, const tune::tuning_options& options,
                                  std::string_view space) {
  return {context,
          {.function = "compare." + std::string(space),
           .version = 0,
           .arguments = {},
           .device = context.device().info()},
          options};
}

diffusion::variant variant_of(std::string_view space) {
  if (space == "naive") return diffusion::variant::naive;
  if (space == "shared") return diffusion::variant::shared;
  if (space == "tiled") return diffusion::variant::tiled;
  throw tune::argument_error("there is no space '" + std::string(space) + "' to compare");
}

search_record search_diffusion(const tune::context& context, const tune::tuning_options& options,
                               std::string_view space, std::size_t size) {
  const diffusion::diffusion_key key{.kernel = variant_of(space), .size = static_cast<int>(size)};
  auto u = diffusion::make_test_field(size);
  auto u_new = u;
  return time_search(options, [&](const tune::tuning_options& observed) {
    tune::tuning_session session = make_session(context, observed, space);
    auto queue = context.create_tuning_command_queue();
    tune::workload work(queue);
    work.set("u", std::move(u)).set("u_new", std::move(u_new));
    session.tune(diffusion::tuning_space(key.kernel), [&](const auto& tuning) {
      auto step =
          diffusion::diffusion_template(context, key, tuning).instantiate(queue, size, size);
      work.bind(step);
      return tune::make_measure(queue, std::move(step));
    });
  });
}

// Makes the search of "tiled" with a bare kernel.
search_record search_bare(const tune::context& context, const tune::tuning_options& options,
                          std::size_t size) {
  const auto field = diffusion::make_test_field(size);
  const auto width = static_cast<std::uint32_t>(size);
  tune::bare_kernel kernel({.name = "diffuse",
                            .source = std::string(embedded::tiled_kernel),
                            .problem_size = {size, size}});
  kernel.parameter("block_size_x", {16, 32, 48, 64, 128});
  kernel.parameter("block_size_y", {2, 4, 8, 16, 32});
  kernel.parameter("tile_size_x", {1, 2, 4}).parameter("tile_size_y", {1, 2, 4});
  kernel.divide_grid_x({"block_size_x", "tile_size_x"});
  kernel.divide_grid_y({"block_size_y", "tile_size_y"});
  kernel.arguments(tune::inout(field), tune::in(field), width, width, diffusion::time_step);
  return time_search(options, [&](const tune::tuning_options& observed) {
    static_cast<void>(kernel.tune(context, observed));
  });
}

search_record search_convolution(const tune::context& context, const tune::tuning_options& options,
                                 std::size_t size) {
  auto input = make_input(size);
  return time_search(options, [&](const tune::tuning_options& observed) {
    tune::tuning_session session = make_session(context, observed, "convolution");
    auto queue = context.create_tuning_command_queue();
    tune::workload work(queue);
    work.set("input", std::move(input)).set("filter", make_filter());
    session.tune(convolution_space(), [&](const convolution_tuning& tuning) {
      convolution op(queue, build_convolution(context, tuning), tuning, size);
      work.bind(op);
      return tune::make_measure(queue, std::move(op));
    });
  });
}

template <class Operation>
tune::run_time median_of(const tune::tuning_command_queue& queue, Operation op) {
  constexpr int runs = 200;
  tune::command_queue filling = queue;
  op.ensure_all_bound();
  op.buffer("src").zero(filling);
  tune::measure timed = tune::make_measure(queue, std::move(op));
  timed.prepare();
  timed.run();
  return tune::samples(timed.sample(runs)).median();
}

search_record tune_transpose(const tune::context& context, const tune::tuning_options& options,
                             const std::vector<matrix_shape>& shapes) {
  using tune::operations::transpose_template;
  const tune::element_type type = tune::dtype::float32;
  tune::operations::transpose_tuning best;
  search_record record = time_search(options, [&](const tune::tuning_options& observed) {
    best = transpose_template::autotune(context, {type.bytes()}, observed);
  });
  const transpose_template tuned(context, type, best);
  const auto queue = context.create_tuning_command_queue();
  for (const matrix_shape& shape : shapes) {
    record.timed.push_back(
        {shape, median_of(queue, tuned.instantiate(queue, shape.rows, shape.columns))});
  }
  return record;
}

search_record tune_hreduce(const tune::context& context, const tune::tuning_options& options,
                           const std::vector<matrix_shape>& shapes) {
  using tune::operations::hreduce_template;
  const tune::operations::reduction sum = tune::operations::sum_of(tune::dtype::float32);
  const std::size_t columns = shapes.empty() ? 1024 : shapes.front().columns;
  const tune::operations::hreduce_key key{.type = std::string(sum.type.name()),
                                          .element_bytes = sum.type.bytes(),
                                          .operation = sum.operation,
                                          .identity = sum.identity,
                                          .definitions = sum.definitions,
                                          .columns = columns};
  tune::operations::hreduce_tuning best;
  search_record record = time_search(options, [&](const tune::tuning_options& observed) {
    best = hreduce_template::autotune(context, key, observed);
  });
  const hreduce_template tuned(context, sum, columns, best);
  const auto queue = context.create_tuning_command_queue();
  for (const matrix_shape& shape : shapes) {
    record.timed.push_back(
        {shape, median_of(queue, tuned.instantiate(queue, shape.rows, shape.columns))});
  }
  return record;
}

std::string_view text_of(std::string_view space) {
  if (space == "convolution") return convolution_text();
  switch (variant_of(space)) {
    case diffusion::variant::naive: return embedded::naive_kernel;
    case diffusion::variant::shared: return embedded::shared_kernel;
    case diffusion::variant::tiled: break;
  }
  return embedded::tiled_kernel;
}

}  // namespace

std::vector<std::string> space_names() {
  return {"naive", "shared", "tiled", "bare", "convolution", "transpose", "hreduce"};
}

bool is_operation(std::string_view space) { return space == "transpose" || space == "hreduce"; }

std::string source_of(std::string_view space) {
  return std::string(tune::preamble(tune::kernel_language::cuda_cpp)) + "\n" +
         std::string(text_of(space));
}

search_record search_space(const tune::context& context, const tune::tuning_options& options,
                           std::string_view space, std::size_t size) {
  if (space == "convolution") return search_convolution(context, options, size);
  if (space == "bare") return search_bare(context, options, size);
  return search_diffusion(context, options, space, size);
}

search_record tune_operation(const tune::context& context, const tune::tuning_options& options,
                             std::string_view name, const std::vector<matrix_shape>& shapes) {
  tune::tuning_options alone = options;
  alone.database = "";
  alone.mode = tune::tuning_mode::force;
  alone.given_by = tune::option_source::command;
  if (name == "transpose") return tune_transpose(context, alone, shapes);
  if (name == "hreduce") return tune_hreduce(context, alone, shapes);
  throw tune::argument_error("there is no operation '" + std::string(name) + "' to compare");
}

}  // namespace compare
