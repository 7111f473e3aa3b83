# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A convolution whose answer a simple kernel computes."""

import numpy
import kernel_tuner

SOURCE = """
#define FILTER 5
#define WIDTH 128
#ifndef tile_size_x
#define tile_size_x 1
#endif
__kernel void convolve(__global float* out, __global const float* in, __constant float* weights) {
  int y = get_group_id(1) * block_size_y + get_local_id(1);
  for (int t = 0; t < tile_size_x; ++t) {
    int x = (get_group_id(0) * tile_size_x + t) * block_size_x + get_local_id(0);
    if (x >= WIDTH || y >= WIDTH) continue;
    float sum = 0;
    for (int j = 0; j < FILTER; ++j)
      for (int i = 0; i < FILTER; ++i)
        sum += in[(y + j) * (WIDTH + FILTER - 1) + x + i] * weights[j * FILTER + i];
    out[y * WIDTH + x] = sum;
  }
}
"""


def tune():
    size = (128, 128)
    random = numpy.random.default_rng(3)
    image = random.random((132, 132)).astype(numpy.float32)
    weights = random.random((5, 5)).astype(numpy.float32)
    arguments = [numpy.zeros(size, numpy.float32), image, weights]
    simple = kernel_tuner.run_kernel("convolve", SOURCE, size, arguments, {"block_size_x": 16, "block_size_y": 4})
    params = {"block_size_x": [16, 32], "block_size_y": [2, 4], "tile_size_x": [1, 2]}
    return kernel_tuner.tune_kernel("convolve", SOURCE, size, arguments, params,
                                    grid_div_x=["block_size_x", "tile_size_x"], answer=[simple[0], None, None],
                                    restrictions=["block_size_x * block_size_y <= 64"], verbose=True)


if __name__ == "__main__":
    tune()
