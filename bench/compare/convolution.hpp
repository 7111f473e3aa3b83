// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include "libtune/libtune.hpp"

namespace compare {

struct convolution_tuning {
  int block_size_x = 16;
  int block_size_y = 2;
  int tile_size_x = 1;
  int tile_size_y = 1;
  int use_padding = 0;
  int cached_reads = 0;
};

}  // namespace compare

LIBTUNE_FIELDS(compare::convolution_tuning, block_size_x, block_size_y, tile_size_x, tile_size_y,
               use_padding, cached_reads)

namespace compare {

inline constexpr std::size_t filter_size = 17;
/// The difference of the input's and the output's rows and columns.
inline constexpr std::size_t border = filter_size - 1;

/// output[y, x] = the sum over j and i of filter[j, i] input[y + j, x + i]. Slots output: size x
/// size, input: with border more of both, filter: 17 x 17; float32, rows without padding.
class convolution final : public tune::operation {
 public:
  convolution(const tune::command_queue& queue, const tune::program& program,
              const convolution_tuning& tuning, std::size_t size);

 private:
  void do_run() override;

  tune::kernel kernel_;
  tune::io_slot& output_;
  tune::io_slot& input_;
  tune::io_slot& filter_;
  unsigned size_;
  tune::nd_range range_;
};

std::string_view convolution_text() noexcept;
tune::program build_convolution(const tune::context& context, const convolution_tuning& tuning);

/// The 1440 configurations of the tutorial.
tune::space<convolution_tuning> convolution_space();

/// Numbers in [0, 1), the same in each run.
tune::host_array<float> make_input(std::size_t size);
tune::host_array<float> make_filter();

/// The largest difference from the host's result, over a few configurations that together have
/// every value of every parameter except the block sizes, on an output of this size.
double check_convolution(const tune::context& context, std::size_t size);

}  // namespace compare
