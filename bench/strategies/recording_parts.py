#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes parts of recorded spaces, each a space of its own, for strategies_bench.

Each file is a cache file of Kernel Tuner, gzip or not. Of each there are the whole, the part of powers
of two alone, the part without them, the parts without the fastest candidate of two parameters, and of
a convolution the parts with and without local memory: three recordings make 19 spaces.

    recording_parts.py OUTPUT_FOLDER RECORDING...
"""

import argparse
import gzip
import json
import pathlib


def is_power_of_two(number):
    return number > 0 and number & (number - 1) == 0


def read(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        return json.load(file)


def parts_of(recording):
    """Yields a name and a condition of an entry for each part."""
    listed = recording["tune_params"]
    timed = [e for e in recording["cache"].values() if isinstance(e["time"], float)]
    fastest = min(timed, key=lambda entry: entry["time"])
    # The block with candidates other than powers of two, and all sizes with these candidates.
    odd = [k for k in listed if not all(is_power_of_two(v) for v in listed[k] if v > 0)]
    odd = [k for k in odd if len(listed[k]) > 1]
    block = next(k for k in odd if k.startswith("block"))
    yield "", lambda e: True
    yield "_powers", lambda e: all(is_power_of_two(e[k]) for k in odd)
    yield "_others", lambda e: not is_power_of_two(e[block])
    for key in ("block_size_x", "tile_size_y"):
        yield f"_without_{key}_{fastest[key]}", lambda e, key=key: e[key] != fastest[key]
    if "use_shmem" in listed:
        yield "_global", lambda e: e["use_shmem"] == 0
        yield "_local", lambda e: e["use_shmem"] == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("recordings", type=pathlib.Path, nargs="+")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    for path in given.recordings:
        recording = read(path)
        for name, keeps in parts_of(recording):
            part = dict(recording, cache={k: e for k, e in recording["cache"].items() if keeps(e)})
            part["tune_params"] = {
                key: [v for v in values if any(e[key] == v for e in part["cache"].values())]
                for key, values in recording["tune_params"].items()
            }
            stem = path.name.split(".")[0] + name
            with gzip.open(given.output / f"{stem}.json.gz", "wt", compresslevel=1) as file:
                json.dump(part, file)
            print(f"{stem}: {len(part['cache'])} configurations")


if __name__ == "__main__":
    main()
