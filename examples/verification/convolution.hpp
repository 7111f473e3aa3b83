// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/libtune.hpp"

namespace verification {

struct convolution_key {
  int size = 1024;      ///< rows and columns of the output
  int planted_bug = 0;  ///< 1: configurations with a tile_size_x of 4 are wrong
};

struct convolution_tuning {
  int block_size_x = 16;
  int block_size_y = 4;
  int tile_size_x = 1;
  int tile_size_y = 1;
};

}  // namespace verification

LIBTUNE_FIELDS(verification::convolution_key, size, planted_bug)
LIBTUNE_FIELDS(verification::convolution_tuning, block_size_x, block_size_y, tile_size_x,
               tile_size_y)

namespace verification {

inline constexpr std::size_t filter_size = 17;
/// The difference of the input's and the output's rows and columns.
inline constexpr std::size_t border = filter_size - 1;

/// output[y, x] = the sum over j and i of weights[j, i] input[y + j, x + i]. Slots output: size x
/// size, input: with border more of both; float32, rows without padding. The weights are part of
/// the program: a bell with the sum 1.
class convolution final : public tune::operation {
 public:
  convolution(const tune::command_queue& queue, const tune::program& program,
              const convolution_tuning& tuning, std::size_t size);

 private:
  void do_run() override;

  tune::kernel kernel_;
  tune::slot_ref<> output_;
  tune::slot_ref<> input_;
  unsigned size_;
  tune::nd_range range_;
};

/// Compiles the kernel for a context, tuned for it.
class convolution_template {
 public:
  static const tune::autotuner<convolution_key, convolution_tuning> autotune;

  explicit convolution_template(const tune::context& context, const convolution_key& key = {},
                                const std::optional<convolution_tuning>& tuning = std::nullopt);

  const convolution_tuning& tuning() const noexcept { return tuning_; }
  convolution instantiate(const tune::command_queue& queue, std::size_t size) const;

 private:
  convolution_tuning tuning_;
  tune::program program_;
};

/// Returns the trusted operation: the formula, without parameters.
convolution naive_convolution(const tune::command_queue& queue, std::size_t size);

/// The search space.
tune::space<convolution_tuning> convolution_space();

/// An input of points in [0, 1), the same in each run.
tune::host_array<float> make_image(std::size_t size);

}  // namespace verification
