# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kernel Tuner's side of the comparison: tunes one space once, and prints a JSON object about it as
its last line. The kernel is libtune's, from compare_libtune --print-source."""

import argparse
import contextlib
import json
import os
import sys
import time
import warnings

# Programs compiled by another run must not help, and none are kept for the next run. This must be
# set before the libraries are loaded.
os.environ["CUDA_CACHE_DISABLE"] = "1"
os.environ["CUPY_CACHE_IN_MEMORY"] = "1"

from spaces import SPACES, make_arguments  # noqa: E402


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--space", choices=SPACES, default="tiled")
    parser.add_argument("--source", required=True, help="a file with the kernel's complete text")
    parser.add_argument("--strategy", default="brute_force", help="as Kernel Tuner calls it")
    parser.add_argument("--seconds", type=float, help="limit of time; not for brute_force")
    parser.add_argument("--size", type=int, default=4096, help="rows and columns of the output")
    parser.add_argument("--device", type=int, default=0, help="CUDA's index")
    parser.add_argument("--ranking", type=int, default=10, help="how many of the best to print")
    given = parser.parse_args(arguments)
    if given.seconds is not None and given.strategy == "brute_force":
        parser.error("Kernel Tuner's brute_force takes no limit of time")
    return given


def strategy_options(given):
    """None where nothing is limited: Kernel Tuner's own defaults."""
    options = {}
    if given.strategy == "random_sample":
        options["fraction"] = 1.0
    if given.seconds is not None:
        options["time_limit"] = given.seconds
    return options or None


def create_context(device):
    """Makes CUDA's context, so that its time counts for neither tool. Returns the seconds."""
    import cupy

    start = time.perf_counter()
    with cupy.cuda.Device(device):
        cupy.cuda.runtime.free(0)
        cupy.cuda.runtime.deviceSynchronize()
    return time.perf_counter() - start


def tune(given, space, source, kernel_arguments):
    """Calls Kernel Tuner. Returns its results, its environment and the seconds of the call."""
    from kernel_tuner import tune_kernel

    # It prints warnings about argument types that it cannot read in this dialect, which are not JSON.
    with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        results, environment = tune_kernel(
            space.kernel,
            source,
            (given.size, given.size),
            kernel_arguments,
            dict(space.parameters),
            grid_div_x=space.divisors("x"),
            grid_div_y=space.divisors("y"),
            lang="cupy",
            compiler_options=["-std=c++17"],  # Kernel Tuner's own choice, C++11, has no variable templates
            device=given.device,
            strategy=given.strategy,
            strategy_options=strategy_options(given),
            quiet=True,
        )
        seconds = time.perf_counter() - start
    return results, environment, seconds


def configuration_of(space, result):
    return {name: int(result[name]) for name in space.parameters}


def report(given, space, results, environment, seconds):
    measured = [item for item in results if "__error__" not in item]
    # A strategy may visit one configuration several times.
    unique = {tuple(configuration_of(space, item).items()): item for item in measured}
    ranked = sorted(unique.values(), key=lambda item: item["time"])
    ranking = [
        {"configuration": configuration_of(space, item), "us": item["time"] * 1e3}
        for item in ranked[: given.ranking]
    ]
    times = {
        name: environment[name] / 1e3
        for name in environment
        if name.startswith("total_") and name.endswith("_time")
    }
    return {
        "tool": "kernel_tuner",
        "space": given.space,
        "size": given.size,
        "device": environment.get("device_name"),
        "strategy": given.strategy,
        "limit_seconds": given.seconds,
        "seconds": seconds,
        "combinations": space.combinations,
        "tried": len(results),
        "measured": len(unique),
        "failed": len(results) - len(measured),
        "configurations_per_second": len(unique) / seconds,
        "best": ranking[0]["configuration"] if ranking else None,
        "best_us": ranking[0]["us"] if ranking else None,
        "times": times,
        "ranking": ranking,
    }


def main():
    given = parse()
    start = time.perf_counter()
    import kernel_tuner  # noqa: F401

    import_seconds = time.perf_counter() - start
    context_seconds = create_context(given.device)
    space = SPACES[given.space]
    with open(given.source, encoding="utf-8") as file:
        source = file.read()
    kernel_arguments = make_arguments(given.space, given.size)
    results, environment, seconds = tune(given, space, source, kernel_arguments)
    record = report(given, space, results, environment, seconds)
    record["import_seconds"] = import_seconds
    record["context_seconds"] = context_seconds
    print(json.dumps(record))


if __name__ == "__main__":
    main()
