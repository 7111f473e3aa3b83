# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""What do a lookup and a launch cost through the Python module beyond C++?

Both are timed in one process, in turn, and the medians of the rounds and of their differences are printed.

    PYTHONPATH=build/release/python python3 bench/python/python_bench.py --device 0
"""

import argparse
import os
import statistics
import tempfile
import time

import libtune
import libtune_python_bench


def lookup_through_module(database, key, device, count):
    find = database.find
    start = time.perf_counter()
    for _ in range(count):
        find("bench.lookup", key, device)
    return time.perf_counter() - start


def launch_through_module(operation, count):
    run = operation.run
    start = time.perf_counter()
    for _ in range(count):
        run()
    seconds = time.perf_counter() - start
    operation.queue.finish()
    return seconds


def compare(title, limit_us, rounds, count, module, in_cpp):
    module(count), in_cpp(count)  # the first call of each opens files and allocates
    pairs = [(module(count), in_cpp(count)) for _ in range(rounds)]
    by_module = statistics.median(1e6 * a / count for a, _ in pairs)
    by_cpp = statistics.median(1e6 * b / count for _, b in pairs)
    differences = sorted(1e6 * (a - b) / count for a, b in pairs)
    low, middle, high = (differences[int(part * (rounds - 1))] for part in (0.25, 0.5, 0.75))
    print(
        f"{title}: {by_module:.2f} us through the module, {by_cpp:.2f} us in C++, {middle:.2f} us beyond "
        f"({low:.2f} to {high:.2f} in half of {rounds} rounds of {count}; asked: {limit_us} us)"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", type=int, default=0, help="its index, as LIBTUNE_DEVICE counts")
    parser.add_argument("--rounds", type=int, default=201)
    arguments = parser.parse_args()
    device = libtune.devices()[arguments.device]
    print(device)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tuning.db")
        context = libtune.Context(device, mode="tune", database=path, isolation="off")
        libtune.tune(
            "bench.lookup", {"x": [1, 2]}, lambda at, _: 1e-6 * at["x"], context=context, key={"n": 7}
        )
        database = libtune.Database(path)
        in_cpp = libtune_python_bench.Lookups(path, "bench.lookup", arguments.device)
        key = {"n": 7}
        compare(
            "lookup",
            20,
            arguments.rounds,
            50,
            lambda count: lookup_through_module(database, key, device, count),
            lambda count: in_cpp.run(count, 7),
        )
        context.set_option("mode", "default")
        operation = context.template("fill", type="float32").instantiate(shape=64)
        launches = libtune_python_bench.Launches(arguments.device, 64)
        compare(
            "launch",
            3,
            arguments.rounds,
            50,
            lambda count: launch_through_module(operation, count),
            launches.run,
        )


if __name__ == "__main__":
    main()
