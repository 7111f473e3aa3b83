# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A script for Kernel Tuner, with libtune: only the import differs (docs/from-kernel-tuner.md).

    PYTHONPATH=build/ci/python python3 examples/tutorial/diffusion.py [<rows and columns>]

run in the top folder of the sources. It tunes three ways to advance a field of temperatures by one step of time; the
first one's result is the answer for the others.
"""

# [import]
import numpy
from libtune import run_kernel, tune_kernel
# [import]
import sys

import libtune


def make_field(n):
    numbers = numpy.arange(n * n, dtype=numpy.uint64) * 7919 % 1000
    return numbers.astype(numpy.float32).reshape(n, n)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    if not libtune.devices():
        print("there is no device")
        sys.exit(2)

    # [arguments]
    u = make_field(n)
    u_new = u.copy()
    args = [u_new, u, numpy.uint32(n), numpy.uint32(n), numpy.float32(0.225)]
    tune_params = {"block_size_x": [16, 32, 48, 64, 128], "block_size_y": [2, 4, 8, 16, 32]}
    # [arguments]

    # [naive]
    results, env = tune_kernel("diffuse", "examples/diffusion/naive.kernel", (n, n), args, tune_params)
    print(env["best_config"])
    # [naive]

    # [answer]
    reference = run_kernel("diffuse", "examples/diffusion/naive.kernel", (n, n), args,
                           {"block_size_x": 16, "block_size_y": 8})
    answer = [reference[0], None, None, None, None]
    # [answer]

    # [shared]
    restrictions = ["block_size_x * block_size_y <= 1024"]
    results, env = tune_kernel("diffuse", "examples/diffusion/shared.kernel", (n, n), args, tune_params,
                               restrictions=restrictions, answer=answer, atol=1e-3)
    print(env["best_config"])
    # [shared]

    # [tiled]
    tune_params["tile_size_x"] = [1, 2, 4]
    tune_params["tile_size_y"] = [1, 2, 4]
    grid_div_x = ["block_size_x", "tile_size_x"]
    grid_div_y = ["block_size_y", "tile_size_y"]
    metrics = {"GFLOP/s": f"{6 * n * n} / (time / 1000) / 1e9"}
    results, env = tune_kernel("diffuse", "examples/diffusion/tiled.kernel", (n, n), args, tune_params,
                               grid_div_x=grid_div_x, grid_div_y=grid_div_y,
                               restrictions=restrictions, answer=answer, atol=1e-3,
                               metrics=metrics, strategy="genetic_algorithm",
                               strategy_options={"max_fevals": 12})
    for row in sorted(results, key=lambda row: row["time"])[:5]:
        print(row["block_size_x"], row["block_size_y"], row["time"], "ms", row.get("GFLOP/s"))
    # [tiled]
    best = env["best_config"]

    # Compares the tiled kernel's result in its best configuration with a step on the host.
    expected = u.copy()
    around = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1]
    expected[1:-1, 1:-1] += numpy.float32(0.225) * (around - 4 * u[1:-1, 1:-1])
    made = run_kernel("diffuse", "examples/diffusion/tiled.kernel", (n, n), args,
                      {name: best[name] for name in tune_params}, grid_div_x=grid_div_x,
                      grid_div_y=grid_div_y)
    wrong = float(numpy.abs(made[0] - expected).max())
    print(f"largest difference from the host: {wrong}")
    sys.exit(0 if wrong < 1e-3 else 1)


if __name__ == "__main__":
    main()
