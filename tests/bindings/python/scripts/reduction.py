# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A sum in two steps, whose number of work groups is a parameter."""

import numpy
from kernel_tuner import tune_kernel
from kernel_tuner.util import get_config_string

SOURCE = """
__kernel void sum(__global float* partial, __global const float* x, int n) {
  __local float parts[block_size_x];
  float own = 0;
  for (int i = get_global_id(0); i < n; i += block_size_x * num_blocks) own += x[i];
  parts[get_local_id(0)] = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    for (int i = 1; i < block_size_x; ++i) own += parts[i];
    partial[get_group_id(0)] = own;
  }
}
"""


def tune():
    n = 50_000
    x = numpy.random.rand(n).astype(numpy.float32)
    params = {"block_size_x": [2**i for i in range(4, 6)], "num_blocks": [2**i for i in range(2, 4)]}
    partial = numpy.zeros(max(params["num_blocks"]), numpy.float32)

    def verify(cpu_result, gpu_result, atol=None):
        return numpy.isclose(cpu_result[0], numpy.sum(gpu_result[0]), rtol=1e-4, atol=atol)

    first, env = tune_kernel("sum", SOURCE, "num_blocks", [partial, x, numpy.int32(n)], params, grid_div_x=[],
                             answer=[numpy.sum(x), None, None], verify=verify)
    second = {}
    for blocks in params["num_blocks"]:
        results, _ = tune_kernel("sum", SOURCE, "num_blocks", [partial, x, numpy.int32(blocks)],
                                 {**params, "num_blocks": [1]}, grid_div_x=[])
        second[blocks] = min(results, key=lambda row: row["time"])
    for row in first:
        row["total"] = row["time"] + second[row["num_blocks"]]["time"]
    print(get_config_string(min(first, key=lambda row: row["total"])))
    return first, env


if __name__ == "__main__":
    tune()
