# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The code of docs/python.md: PYTHONPATH=build/ci/python python3 examples/guide/guide.py"""

import os
import sys
import tempfile

# [start]
import numpy
import libtune
# [start]


def operations(context):
    # [operations]
    samples = numpy.random.default_rng(1).standard_normal((64, 256)).astype("float32")
    transposed = libtune.operations.transpose(samples, context)
    sums = libtune.operations.hreduce(samples, "sum", context)
    # [operations]
    assert (transposed == samples.T).all() and numpy.allclose(sums, samples.sum(1), atol=1e-3)

    # [keep]
    template = context.template("transpose", type="float32")
    operation = template.instantiate(rows=64, columns=256)
    operation.bind("src", samples)
    for _ in range(10):
        operation.run()
    transposed = operation.get("dest")
    # [keep]
    assert (transposed == samples.T).all()

    # [sequence]
    packed = libtune.telescope.pack(numpy.arange(-12, 12).reshape(2, 12), bits=8)
    unpack = context.template("unpack", bits=8, type="int16").instantiate(rows=2, samples=12)
    turn = context.template("transpose", type="int16").instantiate(rows=2, columns=12)
    pipeline = libtune.OperationSequence(
        context.queue,
        {"unpack": unpack, "turn": turn},
        compounds={"samples": ["unpack:out", "turn:src"]},
    )
    pipeline.bind("unpack:samples", packed)
    pipeline.run()
    samples_of_time = pipeline.get("turn:dest")
    # [sequence]
    assert (samples_of_time == numpy.arange(-12, 12).reshape(2, 12).T).all()

    # [device]
    held = libtune.asarray(samples, context)
    transposed = libtune.operations.transpose(held)
    on_host = transposed.get()
    # [device]
    assert (on_host == samples.T).all()


# [source]
SOURCE = """
KERNEL void saxpy(GLOBAL float* y, GLOBAL const float* x, float a, int size) {
  for (int k = 0; k < items; ++k) {
    const int i = (get_group_id(0) * items + k) * block_size_x + get_local_id(0);
    if (i < size) y[i] += a * x[i];
  }
}
"""
# [source]


def kernels(context):
    # [kernel]
    n = 100_000
    x = numpy.arange(n, dtype="float32")
    y = numpy.ones(n, dtype="float32")
    kernel = libtune.Kernel("saxpy", SOURCE, n)
    kernel.parameter("block_size_x", [32, 64, 128, 256])
    kernel.parameter("items", [1, 2, 4])
    kernel.divide_grid(0, ["block_size_x", "items"])
    kernel.restrict("block_size_x * items <= 512")
    kernel.arguments(libtune.inout(y, "y"), libtune.in_(x, "x"), numpy.float32(2), numpy.int32(n))
    kernel.answer(0, y + 2 * x, rtol=1e-6)
    kernel.work("2.0 * problem_size_x", "12.0 * problem_size_x", "float32")  # for gflops, gbs and of_peak
    tuned = kernel.tune(context)
    print(tuned.best, tuned.time_ns, "ns")
    # [kernel]

    # [use]
    operation = tuned.instantiate()
    operation.bind("x", x).bind("y", y)
    operation.run()
    result = operation.get("y")
    # [use]
    assert numpy.allclose(result, y + 2 * x)

    # [decorator]
    @libtune.kernel("guide.saxpy", version=1)
    def saxpy(n):
        made = libtune.Kernel("saxpy", SOURCE, n)
        made.parameter("block_size_x", [32, 64, 128]).parameter("items", [1, 2])
        made.divide_grid(0, ["block_size_x", "items"])
        numbers = numpy.ones(n, dtype="float32")
        made.arguments(libtune.inout(numbers, "y"), libtune.in_(numbers, "x"), numpy.float32(2), numpy.int32(n))
        return made

    tuned = saxpy(context, n=4096)  # a search
    again = saxpy(context, n=4096)  # found in the database
    # [decorator]
    assert tuned.time_ns is not None and again.time_ns is None and again.best == tuned.best


def functions(context):
    # [function]
    def measure(configuration, iterations):
        if configuration["threads"] > 8:
            raise libtune.SkipConfiguration("there are 8 processors")
        return 1.0 / configuration["threads"] + 0.01 * configuration["depth"]  # seconds of one run

    tuned = libtune.tune("app.pipeline", {"threads": [1, 2, 4, 8, 16], "depth": [1, 2, 3]}, measure,
                         restrictions=["threads * depth <= 16"], context=context, key={"channels": 4096})
    # [function]
    assert tuned.best == {"threads": 8, "depth": 1}


def databases(context, path):
    # [lookup]
    database = libtune.Database(path)
    found = database.find("app.pipeline", {"channels": 4096}, context)
    if found is not None:
        print(found.values["threads"], found.facts["grade"])
    # [lookup]
    assert found.values["threads"] == 8

    # [tables]
    results = libtune.read_database(path)  # a table for each function
    trials = libtune.read_database(path, "app.pipeline", trials=True)
    print(list(results), max(trials["threads"]))
    # [tables]
    assert "guide.saxpy" in results and max(trials["threads"]) == 16


def main():
    if not libtune.devices():
        print("there is no device")
        sys.exit(2)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tuning.db")
        operations(libtune.Context(mode="default", database=path))
        # [context]
        context = libtune.Context(database=path, budget="10 s")
        # [context]
        kernels(context)
        functions(context)
        databases(context, path)


if __name__ == "__main__":
    main()
