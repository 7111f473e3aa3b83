# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""One space, searched by several strategies."""

import numpy
from kernel_tuner import tune_kernel

SOURCE = """
__kernel void fill(__global int* x) {
  for (int k = 0; k < items; ++k) x[(get_group_id(0) * items + k) * block_size_x + get_local_id(0)] = 7;
}
"""


def tune():
    params = {"block_size_x": [8, 16, 32, 64, 128, 256], "items": [1, 2, 4, 8]}
    x = numpy.zeros(2048, numpy.int32)
    results = []
    for strategy in ("random_sample", "greedy_ils", "simulated_annealing", "bayes_opt"):
        rows, env = tune_kernel("fill", SOURCE, x.size, [x], params, grid_div_x=["block_size_x", "items"],
                                answer=[numpy.full_like(x, 7)], strategy=strategy,
                                strategy_options={"max_fevals": 3, "time_limit": 60})
        results += rows
    return results, env


if __name__ == "__main__":
    tune()
