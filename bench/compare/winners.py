# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tunes one space many times with libtune alone, and times all winners and finalists against each
other with the neutral loop: how far is each winner from the best? Each search is a process of its
own, exhaustive and with the default strategy, with an empty cache of programs and with a full one,
in turn."""

import argparse
import statistics
import sys

from compare import NeutralTimes
from runs import Runner
from spaces import SPACES


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libtune", help="the program compare_libtune")
    parser.add_argument("--output", default="winners-results", help="folder for what is printed")
    parser.add_argument("--space", choices=SPACES, default="tiled")
    parser.add_argument("--size", type=int, default=4096, help="rows and columns of the output")
    parser.add_argument("--repeats", type=int, default=10, help="of each kind of search")
    parser.add_argument("--kinds", nargs="+", default=["exhaustive", "default"])
    parser.add_argument("--budget", help="of each search, such as '10 s'")
    parser.add_argument("--rounds", type=int, default=400, help="of the neutral loop")
    parser.add_argument("--finalists", type=int, default=6, help="of each search")
    parser.add_argument("--close", type=float, default=1.01, help="of the best that is good enough")
    return parser.parse_args()


def main():
    given = parse()
    runner = Runner(given.libtune, given.output)
    source = runner.source(given.space)
    full = runner.new_folder()
    runs = {f"{kind}, {cache}": [] for kind in given.kinds for cache in ["cold", "cached"]}
    for repeat in range(given.repeats):
        for name, records in runs.items():
            kind, cache = name.split(", ")
            arguments = ["--space", given.space, "--size", str(given.size), "--strategy", kind]
            arguments += ["--budget", given.budget] if given.budget else []
            label = f"{given.space}-{kind}-{cache}-{repeat}"
            records.append(runner.tune(label, arguments,
                                       full if cache == "cached" else runner.new_folder()))
    everything = [record for records in runs.values() for record in records]
    neutral = NeutralTimes(runner, given, given.space, source, everything, given.finalists)
    print(f"{given.space} {given.size} x {given.size}: the best of {neutral.count} takes "
          f"{neutral.optimum:.2f} us")
    missed = 0
    for name, records in runs.items():
        losses = sorted(time / neutral.optimum - 1 for time in neutral.of(records))
        missed += sum(loss > given.close - 1 for loss in losses)
        print(f"  {name:<20} {statistics.median(r['seconds'] for r in records):.3f} s, winners "
              f"{statistics.median(losses):+.2%}, the worst {losses[-1]:+.2%}")
        parts = {part: statistics.median(record["times"][part] for record in records)
                 for part in ["measuring", "waiting", "idle", "idle_overlap"]}
        print("    " + ", ".join(f"{part} {value:.3f} s" for part, value in parts.items()))
    runner.close()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
