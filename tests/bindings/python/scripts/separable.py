# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Two passes of a separable filter, of one text and with a restriction by a function."""

import numpy
from kernel_tuner import tune_kernel

SOURCE = """
#define WIDTH 64
__kernel void pass_over(__global float* out, __global const float* in) {
  int x = get_group_id(0) * block_size_x + get_local_id(0), y = get_group_id(1) * block_size_y + get_local_id(1);
  float sum = 0;
  for (int j = 0; j < filter_height; ++j)
    for (int i = 0; i < filter_width; ++i) sum += in[(y + j) * (WIDTH + filter_width - 1) + x + i];
  out[y * WIDTH + x] = sum + 0 * use_padding;
}
"""


def tune():
    params = {"filter_height": [1], "filter_width": [3, 5], "block_size_x": [16, 32], "block_size_y": [1, 2],
              "use_padding": [0, 1]}
    restrictions = ["use_padding == 0 or block_size_x % 32 != 0", "block_size_x*block_size_y >= 32"]
    image = numpy.ones((72, 72), numpy.float32)
    arguments = [numpy.zeros((64, 64), numpy.float32), image]
    kwargs = dict(restrictions=restrictions, strategy="random_sample", strategy_options={"max_fevals": 4})
    rows, _ = tune_kernel("pass_over", SOURCE, (64, 64), arguments, params, **kwargs)
    params["filter_height"] = params["filter_width"][:]
    params["filter_width"] = [1]
    columns, env = tune_kernel("pass_over", SOURCE, (64, 64), arguments, params, **kwargs)
    return rows + columns, env


if __name__ == "__main__":
    tune()
