# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A stencil with extents of its own names, and a grid by functions."""

import numpy
from kernel_tuner import tune_kernel

SOURCE = """
#define WIDTH 96
#define HEIGHT 64
__kernel void smooth(__global float* to, __global const float* from) {
  int x = get_group_id(0) * columns + get_local_id(0), y = get_group_id(1) * rows + get_local_id(1);
  if (x < 1 || y < 1 || x >= WIDTH - 1 || y >= HEIGHT - 1) return;
  int at = y * WIDTH + x;
  to[at] = 0.2f * (from[at] + from[at - 1] + from[at + 1] + from[at - WIDTH] + from[at + WIDTH]);
}
"""


def tune():
    field = numpy.random.rand(64, 96).astype(numpy.float32)
    answer = field.copy()
    answer[1:-1, 1:-1] += field[1:-1, :-2] + field[1:-1, 2:] + field[:-2, 1:-1] + field[2:, 1:-1]
    answer[1:-1, 1:-1] *= numpy.float32(0.2)
    params = {"columns": [16, 32], "rows": [2.0**i for i in range(1, 3)]}
    return tune_kernel("smooth", SOURCE, lambda p: (96, 64), [field.copy(), field], params,
                       block_size_names=["columns", "rows"], grid_div_x=lambda p: p["columns"], grid_div_y=["rows"],
                       answer=[answer, None], atol=1e-5, defines={"columns": "columns", "rows": lambda p: int(p["rows"])})


if __name__ == "__main__":
    tune()
