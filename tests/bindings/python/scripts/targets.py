# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The best configurations in a file, and a header made of it."""

import numpy
from kernel_tuner import tune_kernel
from kernel_tuner.integration import create_device_targets, store_results

SOURCE = """
__kernel void negate(__global float* x, int n) {
  int i = get_group_id(0) * block_size_x + get_local_id(0);
  if (i < n) x[i] = -x[i];
}
"""


def tune():
    params = {"block_size_x": [32, 64]}
    for n in (1000, 4000):
        arguments = [numpy.ones(n, numpy.float32), numpy.int32(n)]
        results, env = tune_kernel("negate", SOURCE, n, arguments, params, answer=[-arguments[0], None])
        store_results("negate-results.json", "negate", SOURCE, params, n, results, env, top=5)
    create_device_targets("negate.h", "negate-results.json")
    return results, env


if __name__ == "__main__":
    tune()
