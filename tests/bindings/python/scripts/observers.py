# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""An observer of one's own, whose figure is the objective."""

import time

import numpy
from kernel_tuner import tune_kernel
from kernel_tuner.observers import BenchmarkObserver

SOURCE = """
__kernel void scale(__global float* x) {
  int i = get_group_id(0) * block_size_x + get_local_id(0);
  for (int k = 0; k < 50; ++k) x[i] = x[i] * 1.01f;
}
"""


class WallTime(BenchmarkObserver):
    """The time from before the launch to after the end."""

    def __init__(self):
        self.taken = []

    def before_start(self):
        self.begin = time.perf_counter()

    def after_finish(self):
        self.taken.append(1e3 * (time.perf_counter() - self.begin))

    def get_results(self):
        taken, self.taken = self.taken, []
        return {"wall_time": float(numpy.median(taken)), "wall_times": taken}


def tune():
    return tune_kernel("scale", SOURCE, 8192, [numpy.ones(8192, numpy.float32)], {"block_size_x": [32, 64]},
                       observers=[WallTime()], iterations=5, objective="wall_time", objective_higher_is_better=False,
                       metrics={"launches/s": lambda p: 1e3 / p["wall_time"]})


if __name__ == "__main__":
    tune()
