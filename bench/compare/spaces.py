# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The spaces that are compared, for the programs in Python. compare_libtune has the same ones; that
the numbers of combinations are equal is looked at in each comparison."""

import math
from dataclasses import dataclass

import numpy

FILTER_SIZE = 17
TIME_STEP = 0.225

BLOCKS = {
    "block_size_x": [16, 32, 48, 64, 128],
    "block_size_y": [2, 4, 8, 16, 32],
}
TILES = {"tile_size_x": [1, 2, 4], "tile_size_y": [1, 2, 4]}


@dataclass(frozen=True)
class Space:
    """A kernel and its tunable parameters, in the order in which libtune has them."""

    kernel: str
    parameters: dict

    @property
    def combinations(self):
        return math.prod(len(values) for values in self.parameters.values())

    def divisors(self, axis):
        """The names of the parameters whose product is what a block makes along "x" or "y"."""
        names = [f"block_size_{axis}", f"tile_size_{axis}"]
        return [name for name in names if name in self.parameters]

    def launch(self, configuration, size):
        """Grid and block for an output of size x size."""
        area = {axis: math.prod(configuration[n] for n in self.divisors(axis)) for axis in "xy"}
        grid = tuple(-(-size // area[axis]) for axis in "xy")
        return grid, (configuration["block_size_x"], configuration["block_size_y"])


SPACES = {
    "naive": Space("diffuse", BLOCKS),
    "shared": Space("diffuse", BLOCKS),
    "tiled": Space("diffuse", BLOCKS | TILES),
    "convolution": Space(
        "convolve",
        {"block_size_x": list(range(16, 129, 16)), "block_size_y": [2, 4, 8, 16, 32]}
        | TILES
        | {"use_padding": [0, 1], "cached_reads": [0, 1]},
    ),
}


def make_arguments(space, size):
    """What the kernel of a space is called with, as numpy arrays and scalars; the output first."""
    generator = numpy.random.default_rng(1)
    extent = [numpy.uint32(size), numpy.uint32(size)]
    if space == "convolution":
        border = FILTER_SIZE - 1
        source = generator.random((size + border, size + border), dtype=numpy.float32)
        weights = generator.random((FILTER_SIZE, FILTER_SIZE), dtype=numpy.float32)
        return [numpy.zeros((size, size), numpy.float32), source, weights, *extent]
    field = generator.random((size, size), dtype=numpy.float32)
    return [field.copy(), field, *extent, numpy.float32(TIME_STEP)]


def with_macros(source, configuration):
    """A kernel's text with the macros of a configuration before it."""
    macros = "".join(f"#define {name} {value}\n" for name, value in configuration.items())
    return macros + source
