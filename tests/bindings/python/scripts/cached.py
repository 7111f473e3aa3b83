# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A cache file that is resumed, and then replayed without a device's work."""

import numpy
from kernel_tuner import tune_kernel

SOURCE = """
__kernel void power(__global float* y, __global const float* x) {
  int i = get_group_id(0) * block_size_x + get_local_id(0);
  float made = 1;
  for (int k = 0; k < 8; k += step) made *= step == 2 ? x[i] * x[i] : x[i];
  y[i] = made;
}
"""


def tune():
    x = numpy.linspace(0, 1, 1024, dtype=numpy.float32)
    arguments = [numpy.zeros_like(x), x]
    params = {"block_size_x": [16, 32, 64], "step": [1, 2]}
    small = {**params, "block_size_x": [16, 32]}
    tune_kernel("power", SOURCE, x.size, arguments, small, cache="power")
    tune_kernel("power", SOURCE, x.size, arguments, params, cache="power", answer=[x**8, None], atol=1e-4)
    return tune_kernel("power", SOURCE, x.size, arguments, params, cache="power.json", simulation_mode=True,
                       strategy="genetic_algorithm", strategy_options={"max_fevals": 4})


if __name__ == "__main__":
    tune()
