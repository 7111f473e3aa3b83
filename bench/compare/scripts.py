# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Question: do scripts that were written for Kernel Tuner find as good a winner with libtune?

Method: each script of tests/bindings/python/scripts, with larger problems, runs once with Kernel Tuner and once with
only its import changed, in this process, on the first device of OpenCL. Then Kernel Tuner itself times both winners,
in turn, in another order each round, 32 runs at a time; the ratio of the medians over
all rounds counts. The second ratio compares libtune's winner with the fastest of all configurations that Kernel
Tuner measured, timed the same way.

    PYTHONPATH=build/release/python python3 bench/compare/scripts.py [ROUNDS, 15] [SCRIPT ...]
"""

import contextlib
import io
import os
import pathlib
import random
import re
import statistics
import sys
import tempfile
import warnings

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "tests/bindings/python/scripts"

# Problems whose kernels run for 50 us or longer on a CPU.
LARGER = {
    "vector_add": [("n = 100_000", "n = 4_000_000"), ("[32, 64, 128]", "[32, 64, 128, 256, 512, 1024]")],
    "matmul": [("#define N 64", "#define N 256"), ("n = 64", "n = 256")],
    "convolution": [("128", "512"), ("132", "516"), ("<= 64", "<= 128")],
    "reduction": [("n = 50_000", "n = 2_000_000"), ("range(4, 6)", "range(4, 8)"), ("range(2, 4)", "range(2, 6)")],
    "stencil": [("96", "960"), ("64", "640"), ("[16, 32]", "[16, 32, 64, 96, 192]")],
    "separable": [("WIDTH 64", "WIDTH 640"), ("(72, 72)", "(648, 648)"), ("(64, 64)", "(640, 640)"),
                  ('"max_fevals": 4', '"max_fevals": 40')],
    "generated": [("4096", "(1 << 20)"), ("[16, 32]", "[16, 32, 64, 128]")],
    "observers": [("8192", "262144"), ("[32, 64]", "[32, 64, 128, 256]")],
    "many_strategies": [("2048", "1 << 20"), ('"max_fevals": 3', '"max_fevals": 24')],
}



def watched(tune_kernel, calls):
    """tune_kernel, with its calls noted."""
    def call(*given, **options):
        calls.append(((*given[:4], dict(given[4]), *given[5:]), options))
        return tune_kernel(*given, **options)
    return call


def call_of(calls, configuration):
    """The call whose space has a configuration."""
    return next(call for call in calls if all(configuration[name] in values for name, values in call[0][4].items()))


def run(text, path):
    space = {"__name__": path.stem, "__file__": str(path)}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            exec(compile(text, str(path), "exec"), space)
            return space["tune"]()
        finally:
            os.chdir(before)


def tuning_of(configuration, parameters):
    return {name: configuration[name] for name in parameters}


def timed(tune_kernel, call, configurations, rounds):
    """The median time of each configuration, in turn."""
    given, options = call
    parameters = given[4]
    dropped = ("answer", "verify", "strategy", "strategy_options", "observers", "objective", "metrics",
               "objective_higher_is_better", "cache", "iterations", "verbose", "restrictions")
    options = {name: value for name, value in options.items() if name not in dropped}
    times = [[] for _ in configurations]
    for turn in range(rounds):
        for place in random.sample(range(len(configurations)), len(configurations)):
            one = {name: [configurations[place][name]] for name in parameters}
            with contextlib.redirect_stdout(io.StringIO()):
                rows, _ = tune_kernel(*given[:4], one, *given[5:], iterations=32, quiet=True, **options)
            times[place].append(rows[0]["time"])
    return [statistics.median(each) for each in times]


def main():
    import kernel_tuner
    import libtune.kernel_tuner  # noqa: F401

    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    names = sys.argv[2:] or list(LARGER)
    original = kernel_tuner.tune_kernel
    warnings.simplefilter("ignore")
    print(f"{'script':<16} {'us':>9} {'to its winner':>14} {'to its best':>12}  winners")
    for name in names:
        path = SCRIPTS / f"{name}.py"
        text = path.read_text()
        for small, large in LARGER[name]:
            text = text.replace(small, large)
        changed = re.sub(r"^from kernel_tuner\b", "from libtune.kernel_tuner", text, flags=re.M)
        changed = re.sub(r"^import kernel_tuner$", "import libtune.kernel_tuner as kernel_tuner", changed, flags=re.M)
        _, own = run(changed, path)
        calls = []
        kernel_tuner.tune_kernel = watched(original, calls)
        theirs, their = run(text, path)
        kernel_tuner.tune_kernel = original
        call = call_of(calls, their["best_config"])
        parameters = call[0][4]
        ours, winner = (tuning_of(each["best_config"], parameters) for each in (own, their))
        valid = [row for row in theirs if isinstance(row.get("time"), float) and all(p in row for p in parameters)]
        near = [tuning_of(row, parameters) for row in sorted(valid, key=lambda row: row["time"])[:6]]
        contenders = [ours, winner] + [each for each in near if each not in (ours, winner)]
        times = timed(original, call, contenders, rounds)
        ratio = 1.0 if ours == winner else times[0] / times[1]
        print(f"{name:<16} {1e3 * times[0]:>9.1f} {ratio:>14.3f} {times[0] / min(times):>12.3f}  {ours} {winner}",
              flush=True)


if __name__ == "__main__":
    main()
