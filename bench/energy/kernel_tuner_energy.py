# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""How well the energy of a run repeats with Kernel Tuner and its NVML observer.

The kernels and sizes of energy_bench.cpp, each as ten configurations that differ in nothing:
    python3 bench/energy/kernel_tuner_energy.py [rounds]
"""
import pathlib
import statistics
import sys
import time

import numpy
from kernel_tuner import tune_kernel
from kernel_tuner.observers.nvml import NVMLObserver

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 10
GROUPS, ITEMS, FLOATS = 1056, 256, 1 << 27
VARIANTS = [("chain", 200), ("chain", 2000), ("chain", 20000), ("chain", 60000),
            ("copy", 2), ("copy", 16), ("copy", 128), ("copy", 240)]
SOURCE = (pathlib.Path(__file__).parent / "kernels.cu").read_text()

data = numpy.zeros(FLOATS, dtype=numpy.float32)
print("| kernel | us | mJ of a run | W | spread | largest | s for each |")
print("| --- | --- | --- | --- | --- | --- | --- |")
for name, length in VARIANTS:
    begin = time.perf_counter()
    results, _ = tune_kernel(
        name, SOURCE, GROUPS * ITEMS, [data, numpy.float32(0.999), numpy.uint32(length)],
        {"block_size_x": [ITEMS], "again": list(range(ROUNDS))}, lang="cupy", quiet=True,
        observers=[NVMLObserver(["nvml_energy", "nvml_power"])])
    seconds = (time.perf_counter() - begin) / len(results)
    joules = [item["nvml_energy"] for item in results]
    mean = statistics.mean(joules)
    spread, largest = "-", "-"
    if mean > 0:  # the observer finds no value if all runs end before the sensor's next one
        spread = f"{100 * statistics.stdev(joules) / mean:.2f} %"
        largest = f"{100 * max(abs(j - mean) for j in joules) / mean:.2f} %"
    print(f"| {name} {length} | {1e3 * statistics.mean(i['time'] for i in results):.1f} | {1e3 * mean:.4f} | "
          f"{statistics.mean(i['nvml_power'] for i in results):.1f} | {spread} | {largest} | {seconds:.2f} |", flush=True)
