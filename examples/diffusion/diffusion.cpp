// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/diffusion/diffusion.hpp"

#include <string>

#include "examples/diffusion/reference.hpp"

#include "naive.kernel.hpp"
#include "shared.kernel.hpp"
#include "tiled.kernel.hpp"

namespace diffusion {
namespace {

tune::kernel_source source_of(variant kernel) {
  switch (kernel) {
    case variant::naive: return {"naive.kernel", std::string(embedded::naive_kernel)};
    case variant::shared: return {"shared.kernel", std::string(embedded::shared_kernel)};
    case variant::tiled: break;
  }
  return {"tiled.kernel", std::string(embedded::tiled_kernel)};
}

std::size_t local_memory_of(variant kernel, const diffusion_tuning& t) {
  if (kernel == variant::naive) return 0;
  const auto extent = [](int block, int tile) {
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(tile) + 2;
  };
  return extent(t.block_size_x, t.tile_size_x) * extent(t.block_size_y, t.tile_size_y) *
         sizeof(float);
}

}  // namespace

diffusion_operation::diffusion_operation(const tune::command_queue& queue,
                                         const tune::program& program,
                                         const diffusion_tuning& tuning, std::size_t rows,
                                         std::size_t columns)
    : operation(queue),
      kernel_(program.create_kernel("diffuse")),
      u_new_(add_slot("u_new", {rows, {columns, {.exact = true}}}, tune::dtype::float32)),
      u_(add_slot("u", {rows, {columns, {.exact = true}}}, tune::dtype::float32)),
      width_(static_cast<unsigned>(columns)),
      height_(static_cast<unsigned>(rows)) {
  const auto block_x = static_cast<std::size_t>(tuning.block_size_x);
  const auto block_y = static_cast<std::size_t>(tuning.block_size_y);
  const std::size_t area_x = block_x * static_cast<std::size_t>(tuning.tile_size_x);
  const std::size_t area_y = block_y * static_cast<std::size_t>(tuning.tile_size_y);
  range_ = {.global = {tune::divide_up(columns, area_x) * block_x,
                       tune::divide_up(rows, area_y) * block_y},
            .local = {block_x, block_y}};
}

void diffusion_operation::swap() {
  const tune::device_array u = u_->buffer();
  u_->bind(u_new_->buffer());
  u_new_->bind(u);
}

void diffusion_operation::do_run() {
  enqueue(kernel_, range_, u_new_, u_, width_, height_, time_step);
}

diffusion_template::diffusion_template(const tune::context& context, const diffusion_key& key,
                                       const std::optional<diffusion_tuning>& tuning)
    : tuning_(tuning ? *tuning : autotune(context, key)),
      program_(tune::compile(context, source_of(key.kernel), tune::defines(tuning_))) {}

diffusion_operation diffusion_template::instantiate(const tune::command_queue& queue,
                                                    std::size_t rows, std::size_t columns) const {
  return {queue, program_, tuning_, rows, columns};
}

tune::space<diffusion_tuning> tuning_space(variant kernel) {
  tune::space<diffusion_tuning> space;
  space.add(&diffusion_tuning::block_size_x, {16, 32, 48, 64, 128});
  space.add(&diffusion_tuning::block_size_y, {2, 4, 8, 16, 32});
  if (kernel == variant::tiled) {
    space.add(&diffusion_tuning::tile_size_x, {1, 2, 4});
    space.add(&diffusion_tuning::tile_size_y, {1, 2, 4});
  }
  space.needs([kernel](const diffusion_tuning& t) {
    return tune::resources{.work_group = {static_cast<std::size_t>(t.block_size_x),
                                          static_cast<std::size_t>(t.block_size_y), 1},
                           .local_memory_bytes = local_memory_of(kernel, t)};
  });
  return space;
}

const tune::autotuner<diffusion_key, diffusion_tuning> diffusion_template::autotune{
    {.name = "diffusion_template.autotune",
     .version = 0,
     .test = {.block_size_x = 16, .block_size_y = 4}},
    [](tune::tuning_session& session, const diffusion_key& key) {
      const auto size = static_cast<std::size_t>(key.size);
      const tune::host_array<float> field = make_test_field(size);
      tune::host_array<float> expected = field;
      advance(field, expected);
      tune::answer answer;
      // Neighbours cancel, so the sum of the differences is as exact as the neighbours are.
      answer.add("u_new", std::move(expected), {.absolute = 1e-6});

      auto queue = session.context().create_tuning_command_queue();
      tune::workload work(queue);
      work.set("u", field).set("u_new", field);
      return session.tune(tuning_space(key.kernel), [&](const diffusion_tuning& tuning) {
        auto step =
            diffusion_template(session.context(), key, tuning).instantiate(queue, size, size);
        return tune::make_measure(queue, std::move(step), work, answer);
      });
    }};

}  // namespace diffusion
