# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs libtune and its peers in turn on one GPU, prints what each needed and found, and says which
of the project's targets are met. README.md beside this file says what is measured."""

import argparse
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys

from runs import RunFailed, Runner
from spaces import SPACES

DIFFUSION = ["naive", "shared", "tiled"]
OPERATIONS = {
    "transpose": ["2048x2048", "8192x8192"],
    "hreduce": ["2048x1024", "65536x1024"],
}
# Kernel Tuner's wall time of the exhaustive search over ours; the tiled space only.
FASTER = {"exhaustive": 10, "default": 20, "exhaustive cached": 40, "default cached": 40}
BARE = "exhaustive, bare kernel"  # the tiled space, described at run time
BARE_COST = 1.05  # factor of the operation's search in wall time
CLOSE = 1.01
IDLE = 0.10


class Targets:
    """What was to be reached, and whether it was."""

    def __init__(self):
        self.lines = []

    def judge(self, name, met, figures):
        self.lines.append({"target": name, "met": bool(met), "figures": figures})

    def show(self):
        print("\nTargets")
        for line in self.lines:
            print(f"  {'PASS' if line['met'] else 'FAIL'}  {line['target']}: {line['figures']}")


def median_of(records, name):
    return statistics.median(record[name] for record in records)


def text_of(configuration):
    return " ".join(f"{name}={value}" for name, value in configuration.items())


def show(title, rows):
    """Rows are of a tool's name, its records, and the device times of its winners."""
    print(f"\n{title}\n{'':<36}{'seconds':>9}{'tried':>7}{'timed':>7}{'failed':>7}{'conf/s':>9}"
          f"{'own us':>9}{'neutral us':>11}  best")
    for name, records, neutral in rows:
        last = records[-1]
        neutral_text = f"{statistics.median(neutral):.2f}" if neutral else "-"
        print(f"{name:<36}{median_of(records, 'seconds'):>9.3f}{last['tried']:>7}"
              f"{last['measured']:>7}{last['failed']:>7}"
              f"{median_of(records, 'configurations_per_second'):>9.1f}"
              f"{median_of(records, 'best_us'):>9.2f}{neutral_text:>11}  {text_of(last['best'])}")


def show_times(name, records):
    parts = {part: statistics.median(record["times"][part] for record in records)
             for part in ["measuring", "waiting", "idle", "idle_overlap"]}
    seconds = median_of(records, "seconds")
    print(f"  {name}: {seconds:.3f} s, of it "
          + ", ".join(f"{part} {value:.3f}" for part, value in parts.items())
          + f" ({parts['idle_overlap'] / seconds:.1%} of the wall time nothing at work)")


def idle_share(records):
    return statistics.median(r["times"]["idle_overlap"] / r["seconds"] for r in records)


class NeutralTimes:
    """Device times of configurations of one space, by the neutral loop."""

    def __init__(self, runner, given, space, source, records, finalists):
        wanted = [record["best"] for record in records]
        for record in records:
            wanted += [item["configuration"] for item in record["ranking"][:finalists]]
        configurations = list({self._key(item): item for item in wanted}.values())
        path = runner.output / f"{space}-finalists.json"
        path.write_text(json.dumps(configurations))
        record = runner.python(f"{space}-neutral", "neutral_loop.py", [
            "--space", space, "--source", str(source), "--configurations", str(path),
            "--size", str(given.size), "--rounds", str(given.rounds)])
        self.count = len(configurations)
        self._times = {self._key(item["configuration"]): item["us"] for item in record["timed"]}
        self.largest_difference = max(item["difference"] for item in record["timed"])

    @staticmethod
    def _key(configuration):
        return tuple(sorted(configuration.items()))

    @property
    def optimum(self):
        return min(self._times.values())

    def of(self, records):
        return [self._times[self._key(record["best"])] for record in records]


def check_space(space, records):
    for record in records:
        if record["combinations"] != SPACES[space].combinations:
            raise RunFailed(f"{space}: {record['tool']} has {record['combinations']} combinations, "
                            f"not {SPACES[space].combinations}")


def run_diffusion(runner, given, space):
    """All runs of one space, by name: a list of records each."""
    source = runner.source(space)
    common = ["--space", space, "--size", str(given.size)]
    runs = {name: [] for name in ["kernel_tuner", *FASTER] + ([BARE] if space == "tiled" else [])}

    def ours(name, strategy, cache, described=space):
        arguments = ["--space", described, "--size", str(given.size), "--strategy", strategy]
        label = f"{space}-libtune-{name.replace(' ', '-')}-{len(runs[name])}"
        runs[name].append(runner.tune(label, arguments, cache))

    for repeat in range(given.repeats):
        cache = runner.new_folder()
        ours("exhaustive", "exhaustive", cache)
        runs["kernel_tuner"].append(runner.python(
            f"{space}-kernel_tuner-{repeat}", "kernel_tuner_peer.py",
            [*common, "--source", str(source)]))
        ours("default", "default", runner.new_folder())
        if BARE in runs:
            ours(BARE, "exhaustive", runner.new_folder(), "bare")
        ours("exhaustive cached", "exhaustive", cache)
        ours("default cached", "default", cache)
    everything = [record for records in runs.values() for record in records]
    check_space(space, everything)
    neutral = NeutralTimes(runner, given, space, source, everything, finalists=10)
    return runs, neutral


def judge_diffusion(targets, space, runs, neutral):
    theirs = median_of(runs["kernel_tuner"], "seconds")
    their_winner = min(neutral.of(runs["kernel_tuner"]))
    for name, factor in FASTER.items():
        ours = median_of(runs[name], "seconds")
        targets.judge(f"{space}, {name}: at least {factor} times faster than Kernel Tuner",
                      theirs / ours >= factor,
                      f"{theirs:.2f} s / {ours:.3f} s = {theirs / ours:.1f}")
        worst = max(neutral.of(runs[name]))
        targets.judge(
            f"{space}, {name}: each winner within 1 % of the optimum and of Kernel Tuner's",
            worst <= CLOSE * neutral.optimum and worst <= CLOSE * their_winner,
            f"worst {worst:.2f} us, optimum {neutral.optimum:.2f} us "
            f"({worst / neutral.optimum - 1:+.2%}), theirs {their_winner:.2f} us "
            f"({worst / their_winner - 1:+.2%})")
    cost = median_of(runs[BARE], "seconds") / median_of(runs["exhaustive"], "seconds")
    targets.judge(f"{space}: a bare kernel is tuned in at most {BARE_COST} times the time",
                  cost <= BARE_COST, f"{cost:.3f}")
    for name in ["exhaustive", "default"]:
        share = idle_share(runs[name])
        targets.judge(f"{space}, {name}: device or compilers at work but for 10 % of the time",
                      share < IDLE, f"{share:.1%} idle")


def compare_diffusion(runner, given, space, targets):
    runs, neutral = run_diffusion(runner, given, space)
    rows = [("Kernel Tuner, exhaustive", runs["kernel_tuner"], neutral.of(runs["kernel_tuner"]))]
    names = [name for name in runs if name != "kernel_tuner"]
    rows += [(f"libtune, {name}", runs[name], neutral.of(runs[name])) for name in names]
    show(f"{space} diffusion, {given.size} x {given.size}, median of {given.repeats}", rows)
    theirs = median_of(runs["kernel_tuner"], "seconds")
    print("  times faster: " + ", ".join(
        f"{name} {theirs / median_of(runs[name], 'seconds'):.1f}" for name in FASTER))
    print(f"  optimum of {neutral.count} finalists: {neutral.optimum:.2f} us; outputs differ by "
          f"{neutral.largest_difference:.1e} at most")
    for name in names:
        show_times(name, runs[name])
    if space == "tiled":
        judge_diffusion(targets, space, runs, neutral)


def compare_convolution(runner, given, targets):
    runner.check()
    source = runner.source("convolution")
    common = ["--space", "convolution", "--size", str(given.size)]
    limit, their_limit = given.convolution_seconds, given.kernel_tuner_seconds
    ours, theirs = [], []
    for repeat in range(given.convolution_repeats):
        ours.append(runner.tune(
            f"convolution-libtune-{repeat}",
            [*common, "--strategy", given.convolution_strategy, "--budget", f"{limit} s"],
            runner.new_folder()))
        theirs.append(runner.python(
            f"convolution-kernel_tuner-{repeat}", "kernel_tuner_peer.py",
            [*common, "--source", str(source), "--strategy", given.kernel_tuner_strategy,
             "--seconds", str(their_limit)]))
    check_space("convolution", ours + theirs)
    neutral = NeutralTimes(runner, given, "convolution", source, ours + theirs, finalists=2)
    show(f"17 x 17 convolution, {given.size} x {given.size}",
         [(f"Kernel Tuner, {given.kernel_tuner_strategy}, {their_limit} s", theirs,
           neutral.of(theirs)),
          (f"libtune, {ours[-1]['strategy']}, {limit} s", ours, neutral.of(ours))])
    print(f"  outputs differ by {neutral.largest_difference:.1e} at most")
    show_times("libtune", ours)
    our_winner = statistics.median(neutral.of(ours))
    their_winner = statistics.median(neutral.of(theirs))
    targets.judge("convolution: a better winner than Kernel Tuner's in no more wall time",
                  limit <= their_limit and our_winner < their_winner,
                  f"{our_winner:.2f} us after {median_of(ours, 'seconds'):.0f} s, "
                  f"theirs {their_winner:.2f} us after {median_of(theirs, 'seconds'):.0f} s")
    targets.judge("convolution: device or compilers at work but for 10 % of the time",
                  idle_share(ours) < IDLE, f"{idle_share(ours):.1%} idle")


def compare_operation(runner, given, operation, shapes):
    asked = ["--space", operation]
    for shape in shapes:
        asked += ["--shape", shape]
    runs = {"katsdpsigproc": [], "libtune, exhaustive": [], "libtune, default": []}
    for repeat in range(given.repeats):
        runs["katsdpsigproc"].append(runner.python(
            f"{operation}-katsdpsigproc-{repeat}", "katsdpsigproc_peer.py", asked,
            driver_cache=True))
        for strategy in ["exhaustive", "default"]:
            runs[f"libtune, {strategy}"].append(runner.tune(
                f"{operation}-libtune-{strategy}-{repeat}",
                [*asked, "--backend", "OpenCL", "--strategy", strategy], runner.new_folder(),
                driver_cache=True))
    show(f"{operation} of float32 on OpenCL, each tool's own space and workload, median of "
         f"{given.repeats}", [(name, records, []) for name, records in runs.items()])
    for place, shape in enumerate(shapes):
        times = {name: statistics.median(record["shapes"][place]["us"] for record in records)
                 for name, records in runs.items()}
        print(f"  tuned, on {shape}: "
              + ", ".join(f"{name} {time:.2f} us" for name, time in times.items()))


def describe_host():
    versions = {}
    for package in ["kernel_tuner", "katsdpsigproc", "cupy", "cupy-cuda12x", "cupy-cuda13x",
                    "pyopencl", "numpy"]:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    try:
        query = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.max.sm",
                 "--format=csv,noheader"]
        gpus = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        gpus = ""
    return {"cores": len(os.sched_getaffinity(0)), "gpus": gpus.strip().splitlines(),
            "versions": versions}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libtune", help="the program compare_libtune")
    parser.add_argument("--output", default="compare-results", help="folder for what is printed")
    parser.add_argument("--quick", action="store_true", help="the tiled diffusion alone")
    parser.add_argument("--spaces", nargs="+", choices=[*SPACES, *OPERATIONS],
                        help="these alone")
    parser.add_argument("--size", type=int, default=4096, help="of diffusion and convolution")
    parser.add_argument("--repeats", type=int, default=3, help="of all but the convolution")
    parser.add_argument("--rounds", type=int, default=400, help="of the neutral loop")
    parser.add_argument("--convolution-seconds", type=int, default=120)
    parser.add_argument("--kernel-tuner-seconds", type=int,
                        help="for the convolution, if not as long as libtune")
    parser.add_argument("--convolution-repeats", type=int, default=1)
    parser.add_argument("--convolution-strategy", default="default", help="libtune's")
    parser.add_argument("--kernel-tuner-strategy", default="random_sample",
                        help="for the convolution; brute_force takes no limit of time")
    parser.add_argument("--skip-katsdpsigproc", action="store_true")
    given = parser.parse_args()
    if given.kernel_tuner_seconds is None:
        given.kernel_tuner_seconds = given.convolution_seconds
    if given.spaces is None:
        given.spaces = ["tiled"] if given.quick else [*SPACES, *OPERATIONS]
    if given.skip_katsdpsigproc:
        given.spaces = [space for space in given.spaces if space not in OPERATIONS]
    return given


def compare_space(runner, given, space, targets):
    if space in DIFFUSION:
        compare_diffusion(runner, given, space, targets)
    elif space == "convolution":
        compare_convolution(runner, given, targets)
    else:
        compare_operation(runner, given, space, OPERATIONS[space])


def main():
    given = parse()
    targets = Targets()
    runner = Runner(given.libtune, given.output)
    host = describe_host()
    print(json.dumps(host))
    failed = []
    for space in given.spaces:
        try:
            compare_space(runner, given, space, targets)
        except RunFailed as failure:
            # The others are still useful.
            failed.append(space)
            print(f"\n{space} could not be compared: {failure}", file=sys.stderr)
        sys.stdout.flush()
    runner.close()
    summary = {"host": host, "options": vars(given), "targets": targets.lines, "failed": failed}
    (runner.output / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    targets.show()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
