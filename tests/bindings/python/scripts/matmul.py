# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A matrix product with tiles in local memory."""

import numpy
from kernel_tuner import tune_kernel

SOURCE = """
#define N 64
__kernel void multiply(__global float* c, __global const float* a, __global const float* b) {
  __local float rows[block_size_y * tile_size_y][block_size_x];
  int x = get_group_id(0) * block_size_x + get_local_id(0);
  int y = get_group_id(1) * block_size_y * tile_size_y + get_local_id(1);
  float sum[tile_size_y];
  for (int t = 0; t < tile_size_y; ++t) sum[t] = 0;
  for (int k = 0; k < N; k += block_size_x) {
    for (int t = 0; t < tile_size_y; ++t)
      rows[get_local_id(1) + t * block_size_y][get_local_id(0)] = a[(y + t * block_size_y) * N + k + get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < block_size_x; ++i)
      for (int t = 0; t < tile_size_y; ++t)
        sum[t] += rows[get_local_id(1) + t * block_size_y][i] * b[(k + i) * N + x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int t = 0; t < tile_size_y; ++t) c[(y + t * block_size_y) * N + x] = sum[t];
}
"""


def tune():
    n = 64
    a, b = (numpy.random.default_rng(seed).random((n, n)).astype(numpy.float32) for seed in (1, 2))
    params = {"block_size_x": [8, 16], "block_size_y": [4, 8], "tile_size_y": [1, 2, 4]}
    restrictions = ["block_size_x == block_size_y * tile_size_y"]
    return tune_kernel("multiply", SOURCE, (n, n), [numpy.zeros_like(a), a, b], params,
                       grid_div_x=["block_size_x"], grid_div_y=["block_size_y", "tile_size_y"],
                       restrictions=restrictions, answer=[a @ b, None, None], atol=1e-3, iterations=3,
                       metrics={"GFLOP/s": f"2 * {n}**3 / (time / 1000) / 1e9"}, objective="GFLOP/s")


if __name__ == "__main__":
    tune()
