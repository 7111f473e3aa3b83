// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/verification/convolution.hpp"

#include <array>
#include <cmath>
#include <random>
#include <sstream>
#include <string>

#include "convolution.kernel.hpp"
#include "naive.kernel.hpp"

namespace verification {
namespace {

constexpr convolution_tuning naive_shape{.block_size_x = 16, .block_size_y = 8};

std::size_t as_size(int number) { return static_cast<std::size_t>(number); }

std::array<double, filter_size> bell() {
  std::array<double, filter_size> values{};
  double sum = 0;
  for (std::size_t i = 0; i < filter_size; ++i) {
    const double distance = static_cast<double>(i) - 8.0;
    sum += values[i] = std::exp(-distance * distance / 18.0);
  }
  for (double& value : values) value /= sum;
  return values;
}

// Constant memory suits a table that all work items read in the same order.
std::string filter_text() {
  std::ostringstream text;
  text << "#define FILTER_SIZE " << filter_size << "\n#if LIBTUNE_CUDA\n__constant__\n#else\n"
       << "__constant\n#endif\nfloat weights[FILTER_SIZE * FILTER_SIZE] = {" << std::scientific;
  text.precision(9);
  for (const double row : bell()) {
    for (const double column : bell()) text << row * column << "f, ";
    text << '\n';
  }
  text << "};\n";
  return text.str();
}

tune::program build(const tune::context& context, const convolution_key& key,
                    const convolution_tuning& tuning) {
  const bool is_wrong = key.planted_bug != 0 && tuning.tile_size_x == 4;
  return tune::compile(
      context, {"convolution.kernel", filter_text() + std::string(embedded::convolution_kernel)},
      tune::defines(tuning)
          .add("missing_columns", is_wrong ? 1 : 0)
          .add("write_out", context.device().kind() == tune::device_kind::cpu ? 0 : 1));
}

std::size_t local_memory_of(const convolution_tuning& t) {
  return (as_size(t.block_size_x * t.tile_size_x) + border) *
         (as_size(t.block_size_y * t.tile_size_y) + border) * sizeof(float);
}

}  // namespace

convolution::convolution(const tune::command_queue& queue, const tune::program& program,
                         const convolution_tuning& tuning, std::size_t size)
    : operation(queue),
      kernel_(program.create_kernel("convolve")),
      output_(add_slot("output", {size, {size, {.exact = true}}}, tune::dtype::float32)),
      input_(add_slot("input", {size + border, {size + border, {.exact = true}}},
                      tune::dtype::float32)),
      size_(static_cast<unsigned>(size)) {
  const std::size_t block_x = as_size(tuning.block_size_x);
  const std::size_t block_y = as_size(tuning.block_size_y);
  range_ = {.global = {tune::divide_up(size, block_x * as_size(tuning.tile_size_x)) * block_x,
                       tune::divide_up(size, block_y * as_size(tuning.tile_size_y)) * block_y},
            .local = {block_x, block_y}};
}

void convolution::do_run() { enqueue(kernel_, range_, output_, input_, size_); }

convolution naive_convolution(const tune::command_queue& queue, std::size_t size) {
  const tune::program program = tune::compile(
      queue.context(), {"naive.kernel", filter_text() + std::string(embedded::naive_kernel)},
      tune::defines());
  return {queue, program, naive_shape, size};
}

convolution_template::convolution_template(const tune::context& context, const convolution_key& key,
                                           const std::optional<convolution_tuning>& tuning)
    : tuning_(tuning ? *tuning : autotune(context, key)), program_(build(context, key, tuning_)) {}

convolution convolution_template::instantiate(const tune::command_queue& queue,
                                              std::size_t size) const {
  return {queue, program_, tuning_, size};
}

tune::space<convolution_tuning> convolution_space() {
  tune::space<convolution_tuning> space;
  space.add(&convolution_tuning::block_size_x, {16, 32, 48, 64, 80, 96, 112, 128});
  space.add(&convolution_tuning::block_size_y, {1, 2, 4, 8, 16, 32});
  space.add(&convolution_tuning::tile_size_x, {1, 2, 4});
  space.add(&convolution_tuning::tile_size_y, {1, 2, 4});
  space.needs([](const convolution_tuning& t) {
    return tune::resources{.work_group = {as_size(t.block_size_x), as_size(t.block_size_y), 1},
                           .local_memory_bytes = local_memory_of(t)};
  });
  return space;
}

tune::host_array<float> make_image(std::size_t size) {
  tune::host_array<float> image({size + border, size + border});
  std::mt19937 engine(1);
  for (std::size_t y = 0; y < size + border; ++y) {
    for (std::size_t x = 0; x < size + border; ++x) {
      image(y, x) = static_cast<float>(engine() >> 8) / static_cast<float>(1 << 24);
    }
  }
  return image;
}

const tune::autotuner<convolution_key, convolution_tuning> convolution_template::autotune{
    {.name = "verification.convolution", .version = 0, .test = {}},
    [](tune::tuning_session& session, const convolution_key& key) {
      const std::size_t size = as_size(key.size);
      auto queue = session.context().create_tuning_command_queue();
      // [trusted]
      tune::workload work(queue);
      work.set("input", make_image(size));
      work.vary({"input"}, {tune::input_kind::shuffled, tune::input_kind::extremes});

      // The naive kernel goes through the same door, and its output becomes the answer. The input
      // has none.
      tune::answer expected;
      convolution naive = naive_convolution(queue, size);
      tune::take_answer(expected, work, naive, {"output"}, {.absolute = 1e-5});

      return session.tune(convolution_space(), [&](const convolution_tuning& tuning) {
        auto op = convolution_template(session.context(), key, tuning).instantiate(queue, size);
        return tune::make_measure(queue, std::move(op), work, expected);
      });
      // [trusted]
    }};

}  // namespace verification
