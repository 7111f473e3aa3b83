# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""What an installed wheel has to do by itself: packaging/wheel/check runs this in a clean environment."""

import importlib.metadata
import os
import pathlib
import sys
import tempfile
import threading

import numpy

import libtune

SOURCE = """
KERNEL void saxpy(GLOBAL float* y, GLOBAL const float* x, float a, int size) {
  for (int k = 0; k < items; ++k) {
    const int i = (get_group_id(0) * items + k) * block_size_x + get_local_id(0);
    if (i < size) y[i] += a * x[i];
  }
}
"""
PACKAGE = pathlib.Path(libtune.__file__).resolve().parent
# Those of drivers, which have to be the machine's own.
DRIVERS = ("libcuda", "libnvrtc", "libnvidia", "libcublas", "libcufft", "libpocl", "libLLVM", "libamdocl", "libigdrcl")


class Helpers:
    """The programs that were running as descendants of this process while it was entered."""

    def __enter__(self):
        self.programs = set()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def look(self):
        while not self.over.wait(0.005):
            parents, programs = {}, {}
            for entry in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    parents[entry.name] = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                    programs[entry.name] = os.readlink(entry / "exe")
                except OSError:
                    continue
            for process in programs:
                above = parents[process]
                while above in parents and above != str(os.getpid()):
                    above = parents[above]
                if above == str(os.getpid()):
                    self.programs.add(programs[process])


def check(holds, text):
    if not holds:
        sys.exit(f"use.py: {text}")


def check_libraries():
    """All of libtune and of what it links is from the wheel, and no driver is."""
    grafted = PACKAGE.parent / "libtune.libs"
    names = sorted(path.name for path in grafted.iterdir())
    check(not [name for name in names if name.startswith(DRIVERS)], f"the wheel has drivers: {names}")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        loaded = {line.split()[-1] for line in maps if ".so" in line}
    for path in loaded:
        name = pathlib.Path(path).name
        if name.startswith(("libtune", "_libtune")):
            check(path.startswith(str(PACKAGE)), f"{path} is loaded, which is not of the wheel")
    for name in names:
        kind = name.split("-")[0]
        of_kind = [path for path in loaded if pathlib.Path(path).name.startswith((kind + "-", kind + "."))]
        check(of_kind and str(grafted / name) in of_kind, f"{name} is in the wheel, and not loaded from there: {of_kind}")
    # CUDA is opened when a program runs, and missing where there is none.
    with open(PACKAGE / "libtune_c.so.1", "rb") as library:
        check(b"libcuda.so.1" in library.read(), "the wheel has been built without CUDA")
    return names


def main():
    check(libtune.__version__ == importlib.metadata.version("libtune"),
          f"the library is {libtune.__version__}, and the wheel {importlib.metadata.version('libtune')}")
    check(sys.prefix in str(PACKAGE), f"libtune is imported from {PACKAGE}, not from {sys.prefix}")
    print(f"libtune {libtune.__version__} for Python {sys.version.split()[0]}, with", *check_libraries())
    devices = libtune.devices()
    if not devices:
        return 77
    folder = tempfile.mkdtemp()
    context = libtune.Context(database=os.path.join(folder, "tuning.db"), isolation="off", mode="force")

    n = 100_000
    x, y = numpy.arange(n, dtype="float32"), numpy.ones(n, dtype="float32")
    kernel = libtune.Kernel("saxpy", SOURCE, n)
    kernel.parameter("block_size_x", [32, 64, 128]).parameter("items", [1, 2]).divide_grid(0, ["block_size_x", "items"])
    kernel.arguments(libtune.inout(y, "y"), libtune.in_(x, "x"), numpy.float32(2), numpy.int32(n))
    kernel.answer(0, y + 2 * x, rtol=1e-6)
    with Helpers() as helpers:
        tuned = kernel.tune(context)
    check(tuned.time_ns > 0, "the kernel has no time")
    operation = tuned.instantiate()
    operation.bind("x", x).bind("y", y)
    operation.run()
    check(numpy.allclose(operation.get("y"), 1 + 2 * x), "the tuned kernel is wrong")
    worker = str(PACKAGE / "libtune-worker")
    check(worker in helpers.programs, f"{worker} has not compiled; there were {helpers.programs}")
    print(f"tuned a kernel on {devices[0].name}, compiled by {worker}")

    samples = numpy.random.default_rng(1).standard_normal((64, 96)).astype("float32")
    libtune.tune_in_children()
    isolated = libtune.Context(database=os.path.join(folder, "isolated.db"), isolation="on", budget="3 trials", mode="force")
    with Helpers() as helpers:
        transposed = libtune.operations.transpose(samples, isolated)
    check((numpy.asarray(transposed) == samples.T).all(), "the transposed array is wrong")
    tuner = str(PACKAGE / "libtune-tuner")
    check(tuner in helpers.programs, f"{tuner} has not searched; there were {helpers.programs}")
    spectrum = libtune.operations.fft(samples.astype("complex64"), context=libtune.Context(database="", mode="default"))
    check(numpy.allclose(spectrum, numpy.fft.fft(samples), atol=1e-3), "the spectrum is wrong")
    print(f"ran operations, tuned by {tuner}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
