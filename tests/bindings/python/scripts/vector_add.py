# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Adds two vectors; writes the results as T4."""

import numpy
from kernel_tuner import tune_kernel
from kernel_tuner.file_utils import store_output_file

SOURCE = """
__kernel void add(__global float* sum, __global const float* a, __global const float* b, int n) {
  int i = get_group_id(0) * block_size_x + get_local_id(0);
  if (i < n) sum[i] = a[i] + b[i];
}
"""


def tune():
    n = 100_000
    a = numpy.random.rand(n).astype(numpy.float32)
    b = numpy.random.rand(n).astype(numpy.float32)
    arguments = [numpy.zeros_like(a), a, b, numpy.int32(n)]
    params = {"block_size_x": [32, 64, 128]}
    results, env = tune_kernel("add", SOURCE, n, arguments, params, answer=[a + b, None, None, None],
                               metrics={"GB/s": lambda p: 12 * n / p["time"] / 1e6})
    store_output_file("add.json", results, params)
    return results, env


if __name__ == "__main__":
    tune()
