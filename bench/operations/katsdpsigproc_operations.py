# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""katsdpsigproc's operations on the same device, by its OpenCL backend: tunes each as katsdpsigproc
does, without a database, and prints the median device time of a run, the sum over its kernels.
The two-dimensional flagger runs on the host (numba), in as many threads as there are processors."""

import argparse
import concurrent.futures
import os
import statistics
import tempfile
import time

os.environ["PYOPENCL_NO_CACHE"] = "1"
# The loader in PyOpenCL's wheels does not search this folder by default.
os.environ.setdefault("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")

import numpy as np  # noqa: E402
import pyopencl  # noqa: E402,F401
import pyopencl.characterize  # noqa: E402,F401  katsdpsigproc uses it without importing it
from katsdpsigproc import opencl  # noqa: E402
from katsdpsigproc.maskedsum import MaskedSumTemplate  # noqa: E402
from katsdpsigproc.percentile import Percentile5Template  # noqa: E402
from katsdpsigproc.rfi import device as rfi  # noqa: E402

RUNS = 20
WIDTH = 13
SIGMAS = 11.0


class Bench:
    def __init__(self, device):
        self.context = device.make_context()
        self.queue = self.context.create_tuning_command_queue()
        self.random = np.random.RandomState(1)

    def numbers(self, shape, dtype):
        values = self.random.random_sample(shape).astype(np.float32) + np.float32(0.5)
        return values.astype(dtype) if np.dtype(dtype).kind != "u" else np.zeros(shape, dtype)

    def milliseconds(self, operation):
        operation.ensure_all_bound()
        for name, slot in operation.slots.items():
            buffer = operation.buffer(name)
            buffer.set(self.queue, self.numbers(slot.shape, slot.dtype))
        operation()
        self.queue.finish()
        times = []
        for _ in range(RUNS):
            self.queue.start_tuning()
            operation()
            self.queue.finish()
            times.append(sum(e.profile.end - e.profile.start for e in self.queue.events) / 1e6)
            self.queue.stop_tuning()
        return statistics.median(times)

    def report(self, name, shape, make):
        start = time.perf_counter()
        operation = make()
        seconds = time.perf_counter() - start
        took = self.milliseconds(operation)
        samples = shape[0] * shape[1]
        print(f"{name:<28} {shape[0]:>6} x {shape[1]:<6} {took:>9.4f} ms "
              f"{samples / took / 1e6:>8.2f} Gsamples/s   tuned in {seconds:.1f} s", flush=True)

    def sums(self):
        for shape in [(4096, 5000), (4096, 4096)]:
            for amplitudes in [False, True]:
                self.report(f"maskedsum{' amplitudes' if amplitudes else ''}", shape,
                            lambda: MaskedSumTemplate(self.context, amplitudes).instantiate(
                                self.queue, shape))

    def percentiles(self):
        shape = (4096, 4096)
        for amplitudes in [True, False]:
            self.report(f"percentile5 {'float32' if amplitudes else 'complex64'}", shape,
                        lambda: Percentile5Template(self.context, shape[1], amplitudes).instantiate(
                            self.queue, shape))

    def flagger(self, shape):
        channels = shape[0]
        background = rfi.BackgroundMedianFilterDeviceTemplate(self.context, WIDTH)
        noise = rfi.NoiseEstMADTDeviceTemplate(self.context, channels)
        threshold = rfi.ThresholdSumDeviceTemplate(self.context)
        self.report("background", shape, lambda: background.instantiate(self.queue, *shape))
        self.report("noise estimate MADT", shape, lambda: noise.instantiate(self.queue, *shape))
        self.report("threshold sum", shape,
                    lambda: threshold.instantiate(self.queue, *shape, SIGMAS))
        whole = rfi.FlaggerDeviceTemplate(background, noise, threshold)
        self.report("flagger", shape, lambda: whole.instantiate(
            self.queue, *shape, threshold_args={"n_sigma": SIGMAS}))


def flag_in_two_dimensions(times, channels, baselines):
    from katsdpsigproc.rfi.twodflag import SumThresholdFlagger
    random = np.random.RandomState(1)
    data = random.standard_normal((times, channels, baselines)).astype(np.float32) * 0.1 + 2
    data = np.abs(data)
    flags = np.zeros(data.shape, np.bool_)
    flagger = SumThresholdFlagger()
    threads = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for _ in range(2):  # the first run compiles
            start = time.perf_counter()
            flagger.get_flags(data, flags, pool)
            seconds = time.perf_counter() - start
    print(f"2-D flagger, {threads} threads: {times} x {channels} x {baselines} {seconds:.2f} s "
          f"{data.size / seconds / 1e6:.1f} Mvis/s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platform", default="NVIDIA", help="how its name begins")
    parser.add_argument("--only", nargs="*", default=["sums", "percentiles", "flagger", "2d"])
    parser.add_argument("--channels", type=int, default=10240)
    parser.add_argument("--baselines", type=int, default=8320)
    parser.add_argument("--cube", type=int, nargs=3, default=[30, 4096, 512],
                        help="times, channels and baselines of the two-dimensional flagger")
    given = parser.parse_args()
    found = [d for d in opencl.Device.get_devices() if d.platform_name.startswith(given.platform)]
    if not found:
        raise SystemExit(f"there is no OpenCL platform that begins with {given.platform!r}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KATSDPSIGPROC_TUNE_DB"] = os.path.join(folder, "tuning.db")
        bench = Bench(found[0])
        if "sums" in given.only:
            bench.sums()
        if "percentiles" in given.only:
            bench.percentiles()
        if "flagger" in given.only:
            bench.flagger((given.channels, given.baselines))
    if "2d" in given.only:
        flag_in_two_dimensions(*given.cube)


if __name__ == "__main__":
    main()
