# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A function writes the text of each configuration."""

import numpy
from kernel_tuner import tune_kernel


def write(params):
    lines = "\n".join(f"  sum += x[i + {k}];" for k in range(params["elements"]))
    return f"""
__kernel void sums(__global float* y, __global const float* x) {{
  int i = (get_group_id(0) * {params['block_size_x']} + get_local_id(0)) * {params['elements']};
  float sum = 0;
{lines}
  y[i / {params['elements']}] = sum;
}}
"""


def tune():
    x = numpy.ones(4096, numpy.float32)
    return tune_kernel("sums", write, x.size, [numpy.zeros_like(x), x], {"block_size_x": [16, 32], "elements": [2, 4]},
                       grid_div_x=["block_size_x", "elements"], lang="OpenCL",
                       answer=[numpy.zeros_like(x), None],
                       verify=lambda answer, result, atol=None: result[0].sum() == 4096)


if __name__ == "__main__":
    tune()
