#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs strategies of an installed Kernel Tuner (pip install kernel_tuner) over its cache files, in its
simulation mode, and writes what they evaluated in which order, for strategies_bench --traces to score
in the same way as libtune's own strategies.

Usage: kernel_tuner_traces.py OUTPUT.json REPEATS LIMIT_FACTOR STRATEGY[,STRATEGY...] CACHE.json...

The cache files are unpacked ones (no gzip). LIMIT_FACTOR is the time limit of a run as a multiple of the
median cost of an evaluation; make it larger than any budget, for the scoring stops at the budget."""
import contextlib
import io
import json
import os
import random
import statistics
import sys

import numpy
from kernel_tuner import interface, util


def costs(entry):
    parts = ("compile_time", "verification_time", "benchmark_time", "framework_time")
    return sum(entry.get(part, 0) for part in parts)


def run(path, document, strategy, limit_ms, seed):
    random.seed(seed)
    numpy.random.seed(seed)
    recorded = document["cache"]
    arguments = interface.util.infer_args_from_cache(document)
    names = document["tune_params_keys"]

    def is_recorded(configuration):
        return ",".join(str(configuration[name]) for name in names) in recorded

    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = interface.tune_kernel(
            **arguments, cache=path, restrictions=[is_recorded], simulation_mode=True, quiet=True,
            strategy=strategy, strategy_options={"time_limit": limit_ms / 1000})
    trace = []
    seen = set()
    for result in results:
        key = ",".join(str(result[name]) for name in names)
        own_ms = result.get("strategy_time", 0)
        if key in seen:  # costs only the strategy's own time
            if trace:
                trace[-1][0] += own_ms
            continue
        seen.add(key)
        entry = recorded[key]
        time_ms = entry["time"]
        failed = isinstance(time_ms, str) or "__error__" in entry
        trace.append([costs(entry) + own_ms, None if failed else time_ms])
    return trace


def main():
    output, repeats, factor, strategies = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    all_runs = []
    for path in sys.argv[5:]:
        document = util.read_cache(path, open_cache=False)
        median = statistics.median(costs(entry) for entry in document["cache"].values())
        for strategy in strategies.split(","):
            runs = []
            for seed in range(repeats):
                try:
                    runs.append(run(path, document, strategy, factor * median, seed))
                except Exception as failure:  # a crash of the peer is a result
                    print(path, strategy, seed, repr(failure), file=sys.stderr)
            all_runs.append({"file": os.path.basename(path), "strategy": strategy, "runs": runs})
            with open(output, "w", encoding="utf-8") as file:
                json.dump(all_runs, file)
            print(os.path.basename(path), strategy, len(runs), file=sys.stderr)


if __name__ == "__main__":
    main()
