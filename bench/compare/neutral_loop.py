# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Times configurations of one kernel against each other, whoever chose them, and prints a JSON
object as its last line. It uses CuPy alone, none of the tools that are compared.

All configurations are launched one after the other, round by round, each round in another random
order, so that each meets the same clocks, and follows all others about equally often: what the one
before has left in the cache makes a difference of up to 3 %. Each launch lies between two events of its own. Fills of a large array go before each round, so that the
host is ahead of the device and no gap falls between the events. What counts is the mean of the
middle 80 % of the rounds: events tick too coarsely for the median, which would be one of two or
three ticks. Last, the output of each is compared with that of the first."""

import argparse
import json
import os
import random
import statistics

os.environ["CUDA_CACHE_DISABLE"] = "1"
os.environ["CUPY_CACHE_IN_MEMORY"] = "1"

import cupy  # noqa: E402

from spaces import SPACES, make_arguments, with_macros  # noqa: E402

FILLED_BYTES = 256 << 20
FILLS = 8


class Contender:
    """A configuration, compiled, with its arguments on the device."""

    def __init__(self, space, source, configuration, size, arguments):
        module = cupy.RawModule(
            code=with_macros(source, configuration), options=("--std=c++17",), backend="nvrtc"
        )
        self.configuration = configuration
        self.function = module.get_function(space.kernel)
        self.grid, self.block = space.launch(configuration, size)
        self.arguments = tuple(arguments)
        self.times = []

    def launch(self):
        self.function(self.grid, self.block, self.arguments)


def time_rounds(contenders, rounds):
    filled = cupy.empty(FILLED_BYTES, cupy.uint8)
    events = [(cupy.cuda.Event(), cupy.cuda.Event()) for _ in contenders]
    warm_up = max(3, rounds // 20)
    order = list(range(len(contenders)))
    generator = random.Random(1)
    for turn in range(-warm_up, rounds):
        for _ in range(FILLS):
            filled.fill(0)
        generator.shuffle(order)
        for place in order:
            start, end = events[place]
            start.record()
            contenders[place].launch()
            end.record()
        cupy.cuda.get_current_stream().synchronize()
        if turn < 0:
            continue
        for contender, (start, end) in zip(contenders, events):
            contender.times.append(cupy.cuda.get_elapsed_time(start, end) * 1e3)


def largest_differences(contenders, output):
    """Of each contender's output from the first's, relative to the largest value of that."""
    expected = None
    differences = []
    for contender in contenders:
        output.fill(0)
        contender.launch()
        if expected is None:
            expected = output.copy()
        difference = cupy.abs(output - expected).max() / cupy.abs(expected).max()
        differences.append(float(difference))
    return differences


def middle_mean(times):
    ordered = sorted(times)
    cut = len(ordered) // 10
    return statistics.fmean(ordered[cut : len(ordered) - cut])


def quartiles(times):
    lower, _, upper = statistics.quantiles(times, n=4)
    return [lower, upper]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--space", choices=SPACES, default="tiled")
    parser.add_argument("--source", required=True, help="a file with the kernel's complete text")
    parser.add_argument("--configurations", required=True, help="a JSON file: a list of objects")
    parser.add_argument("--size", type=int, default=4096, help="rows and columns of the output")
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--device", type=int, default=0, help="CUDA's index")
    given = parser.parse_args()

    cupy.cuda.Device(given.device).use()
    with open(given.source, encoding="utf-8") as file:
        source = file.read()
    with open(given.configurations, encoding="utf-8") as file:
        configurations = json.load(file)
    arguments = [
        cupy.asarray(item) if getattr(item, "ndim", 0) else item
        for item in make_arguments(given.space, given.size)
    ]
    space = SPACES[given.space]
    contenders = [
        Contender(space, source, configuration, given.size, arguments)
        for configuration in configurations
    ]
    time_rounds(contenders, given.rounds)
    differences = largest_differences(contenders, arguments[0])
    timed = [
        {
            "configuration": contender.configuration,
            "us": middle_mean(contender.times),
            "quartiles_us": quartiles(contender.times),
            "difference": difference,
        }
        for contender, difference in zip(contenders, differences)
    ]
    print(json.dumps({"space": given.space, "rounds": given.rounds, "timed": timed}))


if __name__ == "__main__":
    main()
