// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/compare/convolution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "convolution.kernel.hpp"

namespace compare {
namespace {

std::size_t as_size(int number) { return static_cast<std::size_t>(number); }

tune::host_array<float> make_numbers(std::size_t rows, std::size_t columns, unsigned seed) {
  tune::host_array<float> numbers({rows, columns});
  std::mt19937 engine(seed);
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < columns; ++x) {
      numbers(y, x) = static_cast<float>(engine() >> 8) / static_cast<float>(1 << 24);
    }
  }
  return numbers;
}

// The bytes of the kernel's tile, by its layout.
std::size_t local_memory_of(const convolution_tuning& t) {
  constexpr std::size_t banks = 32;
  const std::size_t block = as_size(t.block_size_x);
  const std::size_t width = block * as_size(t.tile_size_x) + border;
  const std::size_t height = as_size(t.block_size_y) * as_size(t.tile_size_y) + border;
  const std::size_t pitch =
      t.use_padding != 0 ? block + tune::round_up(width - block, banks) : width;
  return pitch * height * sizeof(float);
}

double window_sum(const tune::host_array<float>& input, const tune::host_array<float>& filter,
                  std::size_t y, std::size_t x) {
  double sum = 0;
  for (std::size_t j = 0; j < filter_size; ++j) {
    for (std::size_t i = 0; i < filter_size; ++i) {
      sum += static_cast<double>(filter(j, i)) * static_cast<double>(input(y + j, x + i));
    }
  }
  return sum;
}

tune::host_array<float> convolve(tune::command_queue& queue, const convolution_tuning& tuning,
                                 const tune::host_array<float>& input,
                                 const tune::host_array<float>& filter, std::size_t size) {
  convolution op(queue, build_convolution(queue.context(), tuning), tuning, size);
  op.ensure_all_bound();
  op.buffer("input").set(queue, input);
  op.buffer("filter").set(queue, filter);
  op.buffer("output").zero(queue);
  op.run();
  return op.buffer("output").get<float>(queue);
}

}  // namespace

convolution::convolution(const tune::command_queue& queue, const tune::program& program,
                         const convolution_tuning& tuning, std::size_t size)
    : operation(queue),
      kernel_(program.create_kernel("convolve")),
      output_(add_slot("output", {size, {size, {.exact = true}}}, tune::dtype::float32)),
      input_(add_slot("input", {size + border, {size + border, {.exact = true}}},
                      tune::dtype::float32)),
      filter_(
          add_slot("filter", {filter_size, {filter_size, {.exact = true}}}, tune::dtype::float32)),
      size_(static_cast<unsigned>(size)) {
  const std::size_t block_x = as_size(tuning.block_size_x);
  const std::size_t block_y = as_size(tuning.block_size_y);
  range_ = {.global = {tune::divide_up(size, block_x * as_size(tuning.tile_size_x)) * block_x,
                       tune::divide_up(size, block_y * as_size(tuning.tile_size_y)) * block_y},
            .local = {block_x, block_y}};
}

void convolution::do_run() { enqueue(kernel_, range_, output_, input_, filter_, size_, size_); }

std::string_view convolution_text() noexcept { return embedded::convolution_kernel; }

tune::program build_convolution(const tune::context& context, const convolution_tuning& tuning) {
  return tune::compile(context, {"convolution.kernel", std::string(convolution_text())},
                       tune::defines(tuning));
}

tune::space<convolution_tuning> convolution_space() {
  tune::space<convolution_tuning> space;
  space.add(&convolution_tuning::block_size_x, {16, 32, 48, 64, 80, 96, 112, 128});
  space.add(&convolution_tuning::block_size_y, {2, 4, 8, 16, 32});
  space.add(&convolution_tuning::tile_size_x, {1, 2, 4});
  space.add(&convolution_tuning::tile_size_y, {1, 2, 4});
  space.add(&convolution_tuning::use_padding, {0, 1});
  space.add(&convolution_tuning::cached_reads, {0, 1});
  space.needs([](const convolution_tuning& t) {
    return tune::resources{.work_group = {as_size(t.block_size_x), as_size(t.block_size_y), 1},
                           .local_memory_bytes = local_memory_of(t)};
  });
  return space;
}

tune::host_array<float> make_input(std::size_t size) {
  return make_numbers(size + border, size + border, 1);
}

tune::host_array<float> make_filter() { return make_numbers(filter_size, filter_size, 2); }

double check_convolution(const tune::context& context, std::size_t size) {
  constexpr std::array<convolution_tuning, 6> chosen{{{16, 4, 1, 1, 0, 0},
                                                      {16, 2, 2, 4, 1, 1},
                                                      {48, 4, 1, 2, 1, 0},
                                                      {32, 8, 4, 1, 0, 1},
                                                      {80, 2, 2, 2, 1, 1},
                                                      {112, 4, 1, 1, 0, 1}}};
  const tune::host_array<float> input = make_input(size);
  const tune::host_array<float> filter = make_filter();
  tune::command_queue queue = context.create_command_queue();
  double largest = 0;
  for (const convolution_tuning& tuning : chosen) {
    const tune::host_array<float> got = convolve(queue, tuning, input, filter, size);
    for (std::size_t y = 0; y < size; ++y) {
      for (std::size_t x = 0; x < size; ++x) {
        const double difference =
            std::abs(window_sum(input, filter, y, x) - static_cast<double>(got(y, x)));
        // A maximum would ignore NaN.
        if (!(difference <= std::numeric_limits<double>::max())) return difference;
        largest = std::max(largest, difference);
      }
    }
  }
  return largest;
}

}  // namespace compare
