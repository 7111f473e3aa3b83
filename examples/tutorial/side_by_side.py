# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The scripts that docs/from-kernel-tuner.md shows beside C++.

    PYTHONPATH=build/ci/python python3 examples/tutorial/side_by_side.py [<rows and columns>]

run in the top folder of the sources.
"""

import os
import pathlib
import sys

import numpy

import libtune
from libtune import run_kernel, tune_kernel


def tune_shared(n):
    u = numpy.random.default_rng(1).random((n, n), dtype=numpy.float32)
    u_new = u.copy()
    # [shared]
    params = {"block_size_x": [16, 32, 48, 64, 128], "block_size_y": [2, 4, 8, 16, 32]}
    restrictions = ["block_size_x * block_size_y <= 1024"]
    args = [u_new, u, numpy.uint32(n), numpy.uint32(n), numpy.float32(0.225)]
    results, env = tune_kernel("diffuse", "shared.kernel", (n, n), args, params, restrictions=restrictions)
    print(env["best_config"])
    # [shared]


def tune_convolution(n, text):
    source = "#define FILTER_SIZE 7\n" + text
    random = numpy.random.default_rng(2)
    image = random.random((n + 6, n + 6), dtype=numpy.float32)
    args = [numpy.zeros((n, n), numpy.float32), image, random.random((7, 7), dtype=numpy.float32), numpy.int32(n)]
    params = {"block_size_x": [16, 32, 64], "block_size_y": [2, 4, 8], "tile_size_x": [1, 2, 4]}
    # [convolve]
    reference = run_kernel("convolve_naive", source, (n, n), args, {"block_size_x": 16, "block_size_y": 8})
    tune_kernel("convolve", source, (n, n), args, params, grid_div_x=["block_size_x", "tile_size_x"],
                answer=[reference[0], None, None, None], atol=1e-4)
    # [convolve]


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    if not libtune.devices():
        print("there is no device")
        sys.exit(2)
    text = pathlib.Path("examples/tutorial/convolution.kernel").read_text()
    os.chdir("examples/diffusion")
    tune_shared(n)
    tune_convolution(n, text)


if __name__ == "__main__":
    main()
