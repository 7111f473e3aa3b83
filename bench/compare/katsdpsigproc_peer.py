# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""katsdpsigproc's side of the comparison: tunes one operation for float32 once, on OpenCL, times
the winner, and prints a JSON object as its last line."""

import argparse
import json
import logging
import os
import statistics
import tempfile
import time

os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
os.environ["PYOPENCL_NO_CACHE"] = "1"
# The loader in PyOpenCL's wheels does not search this folder by default.
os.environ.setdefault("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")

import numpy  # noqa: E402
import pyopencl  # noqa: E402,F401
import pyopencl.characterize  # noqa: E402,F401  katsdpsigproc uses it without importing it
from katsdpsigproc import opencl  # noqa: E402
from katsdpsigproc.reduce import HReduceTemplate  # noqa: E402
from katsdpsigproc.transpose import TransposeTemplate  # noqa: E402

RUNS = 200


class ScoreKeeper(logging.Handler):
    """Hears of the configurations: katsdpsigproc tells of them in its log only."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.scores = []
        self.failed = 0

    def emit(self, record):
        if record.msg.startswith("Configuration %s scored"):
            configuration, score = record.args[:2]
            self.scores.append((score, dict(configuration)))
        elif record.msg.startswith("Caught exception while testing"):
            self.failed += 1

    def ranking(self):
        return [
            {"configuration": configuration, "us": score * 1e6}
            for score, configuration in sorted(self.scores, key=lambda item: item[0])
        ]


def choose_device(given):
    devices = opencl.Device.get_devices()
    if given.device is not None:
        return devices[given.device]
    for device in devices:
        if device.platform_name.startswith(given.platform):
            return device
    raise SystemExit(
        f"there is no OpenCL device of a platform that begins with {given.platform!r}; there are: "
        + ", ".join(f"{device.platform_name}: {device.name}" for device in devices)
    )


def make_template(operation, context, tuning=None):
    if operation == "transpose":
        return TransposeTemplate(context, numpy.float32, "float", tuning)
    return HReduceTemplate(context, numpy.float32, "float", "a + b", "0.0f", "", tuning)


def autotune(operation, context):
    if operation == "transpose":
        return TransposeTemplate.autotune(context, numpy.float32, "float")
    return HReduceTemplate.autotune(context, numpy.float32, "float", "a + b", "0.0f", "")


def median_us(template, context, shape):
    """Of the device time of its kernel, from its own start to its own end."""
    queue = context.create_tuning_command_queue()
    operation = template.instantiate(queue, shape)
    operation.ensure_all_bound()
    operation.buffer("src").zero(queue)
    operation()
    queue.finish()
    queue.start_tuning()
    for _ in range(RUNS):
        operation()
    queue.finish()
    times = [event.profile.end - event.profile.start for event in queue.events]
    queue.stop_tuning()
    return statistics.median(times) / 1e3


def parse_shape(text):
    rows, columns = text.split("x")
    return int(rows), int(columns)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--space", choices=["transpose", "hreduce"], default="transpose")
    parser.add_argument("--shape", type=parse_shape, action="append", default=[],
                        help="ROWSxCOLUMNS to time the winner on, several times if wanted")
    parser.add_argument("--platform", default="NVIDIA", help="how its name begins")
    parser.add_argument("--device", type=int, help="index among all OpenCL devices instead")
    given = parser.parse_args()

    keeper = ScoreKeeper()
    log = logging.getLogger("katsdpsigproc.tune")
    log.addHandler(keeper)
    log.setLevel(logging.DEBUG)
    log.propagate = False

    device = choose_device(given)
    start = time.perf_counter()
    context = device.make_context()
    context_seconds = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KATSDPSIGPROC_TUNE_DB"] = os.path.join(folder, "tuning.db")
        start = time.perf_counter()
        best = dict(autotune(given.space, context))
        seconds = time.perf_counter() - start
    template = make_template(given.space, context, best)
    shapes = [
        {"rows": shape[0], "columns": shape[1], "us": median_us(template, context, shape)}
        for shape in given.shape
    ]
    ranking = keeper.ranking()
    print(json.dumps({
        "tool": "katsdpsigproc",
        "space": given.space,
        "device": device.name,
        "backend": "OpenCL",
        "context_seconds": context_seconds,
        "seconds": seconds,
        "tried": len(ranking) + keeper.failed,
        "measured": len(ranking),
        "failed": keeper.failed,
        "configurations_per_second": len(ranking) / seconds,
        "best": best,
        "best_us": ranking[0]["us"] if ranking else None,
        "ranking": ranking[:10],
        "shapes": shapes,
    }))


if __name__ == "__main__":
    main()
