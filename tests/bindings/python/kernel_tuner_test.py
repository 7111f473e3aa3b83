# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of Kernel Tuner with another import."""

import inspect
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
import warnings

import numpy

import libtune
import libtune.kernel_tuner as kernel_tuner
from libtune.kernel_tuner import util
from libtune.kernel_tuner._observation import Observation, make_observers
from libtune.kernel_tuner._results import rows_of
from libtune.kernel_tuner.observers import BenchmarkObserver, OutputObserver
from libtune.kernel_tuner.observers.nvml import NVMLObserver
from libtune.kernel_tuner.parameters import Parameters
from libtune.kernel_tuner.strategies.wrapper import OptAlg, OptAlgWrapper

folder = None
before = None

SCALE = """
KERNEL void scale(GLOBAL float* to, GLOBAL const float* from, float by, int size) {
  const int i = get_global_id(0);
  if (i < size) to[i] = by * from[i] + (block_size_x == 16);
}
"""


def setUpModule():
    global folder, before
    folder = tempfile.TemporaryDirectory()
    before = os.getcwd()
    os.chdir(folder.name)
    os.environ["LIBTUNE_ISOLATION"] = "off"


def tearDownModule():
    os.chdir(before)
    folder.cleanup()


def numbers(size=100):
    return numpy.arange(size, dtype="float32")


def arguments():
    return [numpy.zeros(100, "float32"), numbers(), numpy.float32(2), numpy.int32(100)]


def tune(source=SCALE, **more):
    """Tunes the kernel that scales. A work group of 16 gives wrong results."""
    given = {"block_size_x": [16, 32, 64], **more.pop("tune_params", {})}
    return libtune.tune_kernel("scale", source, more.pop("problem_size", 100), more.pop("arguments", arguments()),
                               given, quiet=True, **more)


def sizes(results):
    return sorted(row["block_size_x"] for row in results)


class Device(unittest.TestCase):
    """Tests that run kernels."""

    @classmethod
    def setUpClass(cls):
        if not libtune.devices():
            raise unittest.SkipTest("there is no device")


class Results(Device):
    def test_best_config_is_the_least_of_the_results(self):
        results, environment = tune(answer=[2 * numbers(), None, None, None],
                                    metrics={"GB/s": "800 / 1e6 / (time / 1000) / 1e3"})
        results.sort(key=lambda row: row["block_size_x"])
        self.assertEqual(sizes(results), [16, 32, 64])
        self.assertEqual((results[0]["time"], results[0]["outcome"]), (math.inf, "wrong result"))
        self.assertEqual(results[0]["__error__"], "RuntimeFailedConfig")
        best = environment["best_config"]
        self.assertTrue(any(row is best for row in results[1:]))
        self.assertEqual(best["time"], min(row["time"] for row in results))
        self.assertAlmostEqual(best["GB/s"], 800 / 1e6 / (best["time"] / 1000) / 1e3, delta=1e-6 * best["GB/s"])
        self.assertTrue(best["times"])
        self.assertGreater(environment["total_compile_time"], 0)
        json.dumps(results)

    def test_none_is_below_the_winner_that_lost_against_it(self):
        columns = {"x": [1, 2], "outcome": ["measured"] * 2, "message": [""] * 2, "score_ns": [2e6, 3e6],
                   "samples_ns": [[2e6], [3e6]], "level": [1.0, 1.0], "preparation_ns": [0, 0], "elapsed_ns": [0, 0]}
        rows = rows_of(columns, Parameters({"x": [1, 2]}), {}, None, {"x": 2})
        self.assertEqual([(row["time"], row["times"]) for row in rows], [(3.0, [2.0]), (3.0, [3.0])])

    def test_times_compare_after_an_interruption(self):
        columns = {"x": [1, 2], "outcome": ["measured"] * 2, "message": [""] * 2, "score_ns": [2e6, 3e6],
                   "samples_ns": [[2e6], [3e6]], "level": [1.0, 2.0], "preparation_ns": [0, 0], "elapsed_ns": [0, 0]}
        rows = rows_of(columns, Parameters({"x": [1, 2]}), {})
        self.assertEqual([(row["time"], row["times"]) for row in rows], [(2.0, [2.0]), (1.5, [1.5])])

    def test_run_kernel(self):
        made = libtune.run_kernel("scale", SCALE, 100, arguments(), {"block_size_x": 32})
        self.assertTrue((made[0] == 2 * numbers()).all())
        self.assertEqual(made[3], 100)


    def test_bools_and_structs(self):
        source = """typedef struct { float a; int b; } pair;
        KERNEL void test(GLOBAL pair* to, GLOBAL const uchar* from, pair add) {
          const int i = get_global_id(0);
          to[i].a = from[i] ? add.a : 0;
          to[i].b = i + add.b;
        }"""
        pair = numpy.dtype([("a", "f4"), ("b", "i4")])
        given = [numpy.zeros(8, pair), numpy.arange(8) % 2 == 0, numpy.array((1.5, 10), pair)[()]]
        made = libtune.run_kernel("test", source, 8, given, {"block_size_x": 8})
        self.assertEqual(made[0]["a"].tolist(), [1.5, 0] * 4)
        self.assertEqual(made[0]["b"].tolist(), list(range(10, 18)))
        self.assertEqual(made[1].dtype, bool)
        results, _ = libtune.tune_kernel("test", source, 8, given, {"block_size_x": [4, 8]}, quiet=True,
                                         answer=[made[0], None, None])
        self.assertFalse([row for row in results if "__error__" in row])
        results, _ = libtune.tune_kernel("test", source, 8, given, {"block_size_x": [4, 8]}, quiet=True,
                                         verify=lambda answer, result: result[0].dtype == pair)
        self.assertEqual(sizes(results), [4, 8])

    def test_a_kernel_as_a_function(self):
        kernel = kernel_tuner.PythonKernel("scale", SCALE, 100, arguments(), {"block_size_x": 32},
                                           outputs=[True, False, False, False])
        for given in (numbers(), numbers() + 1):
            made = kernel(numpy.zeros(100, "float32"), given, numpy.float32(3), numpy.int32(100))
            self.assertEqual(len(made), 1)
            self.assertTrue((made[0] == 3 * given).all())
        with self.assertRaisesRegex(TypeError, "4 arguments, not 1"):
            kernel(numbers())
        results, environment = tune(restrictions="block_size_x == 64")
        kernel_tuner.store_results("python-kernel.json", "scale", SCALE, {"block_size_x": []}, 100, results, environment)
        stored = kernel_tuner.PythonKernel("scale", SCALE, 100, arguments(), results_file="python-kernel.json")
        self.assertEqual(stored.params, {"block_size_x": 64})
        self.assertTrue((stored(*arguments())[0] == 2 * numbers()).all())


class Verification(Device):
    SUM = """
    KERNEL void sums(GLOBAL float* partial, GLOBAL const float* x, int n) {
      float sum = 0;
      for (int i = get_global_id(0); i < n; i += num_blocks * block_size_x) sum += x[i];
      partial[get_global_id(0)] = skip == 1 ? 0 : sum;
    }
    """

    def reduce(self, **more):
        x = numpy.random.default_rng(1).random(5000).astype("float32")
        given = [numpy.zeros(64, "float32"), x, numpy.int32(x.size)]
        params = {"block_size_x": [8, 16], "num_blocks": [2, 4], "skip": [0, 1]}
        return kernel_tuner.tune_kernel("sums", self.SUM, "num_blocks", given, params, grid_div_x=[], quiet=True,
                                        answer=[numpy.sum(x), None, None], **more)

    def test_a_number_as_the_answer_of_a_reduction(self):
        def verify(cpu_result, gpu_result, atol=None):
            self.assertIsNone(gpu_result[1])
            return numpy.isclose(cpu_result[0], numpy.sum(gpu_result[0]), atol=atol)

        results, environment = self.reduce(verify=verify)
        self.assertEqual({row["skip"]: "__error__" in row for row in results}, {0: False, 1: True})
        self.assertEqual(environment["best_config"]["skip"], 0)

    def test_without_verify_it_is_refused(self):
        with self.assertRaisesRegex(TypeError, "argument 0.*verify"):
            self.reduce()

    def test_verify_of_two_or_three_arguments(self):
        for judge in (lambda answer, result: answer is None and result[0][99] == 198,
                      lambda answer, result, atol: atol == 0.5 and result[0][99] == 198):
            results, _ = tune(verify=judge, atol=0.5)
            self.assertEqual([r["block_size_x"] for r in results if "__error__" in r], [16])

    def test_the_tolerance_is_that_of_allclose(self):
        wanted = 2 * numbers() * numpy.float32(1 + 5e-6)
        results, _ = tune(answer=[wanted, None, None, None])
        self.assertEqual([r["block_size_x"] for r in results if "__error__" in r], [16])
        results, _ = tune(answer=[wanted.astype("float64"), None, None, None])
        self.assertEqual([r["block_size_x"] for r in results if "__error__" in r], [16])

    def test_whole_numbers(self):
        source = "KERNEL void fill(GLOBAL int* to) { to[get_global_id(0)] = 100000 + (block_size_x == 16); }"
        wanted = numpy.full(64, 100000, "int32")
        for answer, wrong in ((wanted, []), (wanted - 100, [16, 32])):
            try:
                results, _ = kernel_tuner.tune_kernel("fill", source, 64, [wanted * 0], {"block_size_x": [16, 32]},
                                                      answer=[answer], quiet=True)
            except libtune.TuningFailedError:
                results = [{"block_size_x": size, "__error__": ""} for size in (16, 32)]
            self.assertEqual(sorted(r["block_size_x"] for r in results if "__error__" in r), wrong)

    def test_output_observers_replace_the_comparison(self):
        class Deviation(OutputObserver):
            def process_output(self, answer, output):
                self.most = float(abs(output[0] - answer[0]).max())

            def get_results(self):
                return {"deviation": self.most}

        results, environment = tune(answer=[2 * numbers(), None, None, None], observers=[Deviation()],
                                    objective="deviation", objective_higher_is_better=False)
        self.assertEqual({row["block_size_x"]: row["deviation"] for row in results}, {16: 1, 32: 0, 64: 0})
        self.assertEqual(environment["best_config"]["deviation"], 0)


class Spaces(Device):
    def test_restrictions_of_all_kinds(self):
        kinds = [lambda p: p["block_size_x"] != 64, lambda block_size_x: block_size_x != 64,
                 (lambda size: size != 64, ["block_size_x"]), "block_size_x != 64",
                 ["block_size_x is not None", "block_size_x in range(0, 50)"],
                 ["64 % (block_size_x - 16) == 0 or block_size_x < 40", lambda p: p["block_size_x"] < 60]]
        for given in kinds:
            results, _ = tune(restrictions=given)
            self.assertEqual(sizes(results), [32] if "%" in str(given) else [16, 32], given)

    def test_extents_that_are_not_tuned(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results, _ = tune(block_size_names=["block_size_x", "rows"])
        self.assertEqual(len(results), 3)

    def test_candidates_of_any_type(self):
        source = SCALE.replace("by *", "(float)(factor) *").replace("(block_size_x == 16)", "layout.x * 0")
        source = source.replace("GLOBAL float* to", "GLOBAL T* to").replace("layout.x", "(LOCAL_SIZE + 0)")
        params = {"block_size_x": [32.0, 64.0], "factor": [1, 2.5], "LOCAL_SIZE": [(1 + 1)], "T": ["float", "int"]}
        results, environment = tune(source, tune_params=params, restrictions="T == 'float' and factor > 1",
                                    answer=[2.5 * numbers(), None, None, None])
        self.assertEqual(sizes(results), [32.0, 64.0])
        self.assertTrue(all(row["factor"] == 2.5 and row["T"] == "float" for row in results))
        self.assertIsInstance(environment["best_config"]["block_size_x"], float)

    def test_a_name_that_is_a_word_of_libtune(self):
        source = SCALE.replace("KERNEL", "__kernel").replace("GLOBAL", "__global")
        if all(each.backend != "OpenCL" for each in libtune.devices()):
            self.skipTest("there is no device of OpenCL")
        results, _ = tune(source.replace("by *", "LOCAL *"), tune_params={"LOCAL": [2, 3]}, lang="OpenCL",
                          answer=[2 * numbers(), None, None, None], restrictions="block_size_x != 16")
        self.assertEqual({row["LOCAL"]: "__error__" in row for row in results}, {2: False, 3: True})

    def test_names_of_results(self):
        tried = []
        for name in ("time", "times", "outcome", "reason", "grid_size_x"):
            with self.assertRaisesRegex(ValueError, f"called '{name}'"):
                tune(verify=lambda *_, **__: tried.append(1) or True, tune_params={name: [1]})
        for name in ("time", "times", "block_size_x"):
            with self.assertRaisesRegex(libtune.ArgumentError, f"called '{name}'"):
                tune(metrics={name: "1"})
        self.assertEqual(tried, [])

    def test_sizes_by_functions_and_texts(self):
        source = SCALE.replace("(block_size_x == 16)", "(block_size_x * grid_size_x != 128)")
        answer = [2 * numbers(), None, None, None]
        for more in ({"problem_size": lambda p: (128,)}, {"problem_size": ("100 + 28",)},
                     {"problem_size": 128, "grid_div_x": lambda p: p["block_size_x"]},
                     {"problem_size": "128 // block_size_x", "grid_div_x": []},
                     {"problem_size": 256, "grid_div_x": ["block_size_x", 2.0]}):
            results, _ = tune(source, answer=answer, **more)
            self.assertFalse([row for row in results if "__error__" in row], more)

    def test_work_groups_beyond_the_device_are_not_in_the_space(self):
        results, _ = tune(tune_params={"block_size_x": [32, 1 << 20]})
        self.assertEqual(sizes(results), [32])


class Sources(Device):
    def test_files(self):
        pathlib.Path("scale.cl.txt").write_text(SCALE)
        for given in (pathlib.Path("scale.cl.txt"), "scale.cl.txt"):
            self.assertEqual(len(tune(given)[0]), 3)
        with self.assertRaises(FileNotFoundError):
            tune("missing.cl")

    def test_several_files(self):
        pathlib.Path("first.cl").write_text('#include "factor.h.cl"\n' + SCALE.replace("by *", "FACTOR *"))
        pathlib.Path("factor.h.cl").write_text("#define FACTOR (2 + 0 * block_size_x)\n")
        results, _ = tune(["first.cl", "factor.h.cl"], answer=[2 * numbers(), None, None, None])
        self.assertEqual(len([row for row in results if "__error__" not in row]), 2)

    def test_functions_and_macros(self):
        results, _ = tune(lambda p: SCALE.replace("block_size_x == 16", f"{p['block_size_x']} == 32"),
                          answer=[2 * numbers(), None, None, None])
        self.assertEqual([row["block_size_x"] for row in results if "__error__" in row], [32])
        source = SCALE.replace("block_size_x == 16", "SIZE == 32\n#ifdef block_size_x\n+ 1\n#endif\n")
        results, _ = tune(source, defines={"SIZE": lambda p: p["block_size_x"]},
                          answer=[2 * numbers(), None, None, None])
        self.assertEqual([row["block_size_x"] for row in results if "__error__" in row], [32])

    def test_dynamic_local_memory(self):
        if libtune.select_device().backend == "OpenCL":
            source = SCALE.replace("int size)", "int size, LOCAL_DYNAMIC)") if "LOCAL_DYNAMIC" in SCALE else SCALE
            self.assertEqual(len(tune(source, smem_args={"size": 0})[0]), 3)
        with self.assertRaisesRegex(libtune.ArgumentError, "smem_args has 'banks'"):
            tune(smem_args={"banks": 4})


class Strategies(Device):
    def test_all_names(self):
        for name, own in kernel_tuner.strategies.strategy_map.items():
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                self.assertEqual(kernel_tuner.strategies.find_strategy(name), own)
            self.assertEqual(len(told), 0 if name in ("brute_force", "random_sample", "genetic_algorithm",
                                                      "greedy_ils", "bayes_opt") else 1)
        with self.assertRaisesRegex(libtune.ArgumentError, "luck.*brute_force"):
            tune(strategy="luck")
        with self.assertRaisesRegex(libtune.ArgumentError, "a function tune"):
            tune(strategy=object())
        self.assertEqual(kernel_tuner.strategies.minimize, "minimize")

    def test_options(self):
        results, _ = tune(strategy="random_sample", strategy_options={"max_fevals": 2})
        self.assertEqual(len(results), 2)
        results, _ = tune(strategy="random_sample", strategy_options={"fraction": 0.34})
        self.assertEqual(len(results), 2)
        runs = [tune(strategy="random_sample", strategy_options={"max_fevals": 1}, seed=7)[0] for _ in range(2)]
        self.assertEqual(sizes(runs[0]), sizes(runs[1]))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            tune(strategy="pso", strategy_options={"popsize": 4, "w": 0.5, "max_fevals": 2})
        self.assertEqual(len(told), 2)
        self.assertIn("popsize, w", str(told[1].message))
        for begin in ([64], {"block_size_x": 64}):
            results, _ = tune(strategy="bayes_opt", strategy_options={"max_fevals": 1, "x0": begin})
            self.assertEqual(sizes(results), [64])
        for wrong in ([65], [64, 1]):
            with self.assertRaisesRegex(ValueError, "no candidate|a value is needed"):
                tune(strategy_options={"x0": [65]} if wrong == [65] else {"x0": {"x": 1}})
        with self.assertRaisesRegex(ValueError, "max_fevals is 0"):
            tune(strategy_options={"max_fevals": 0})


class OwnStrategies(Device):
    class Downhill(OptAlg):
        """Goes to the cheapest neighbour, as long as there is one that is cheaper."""

        def __call__(self, func, searchspace):
            at, cost = searchspace.list[0], func(searchspace.list[0])
            while True:
                costs = {each: func(each) for each in searchspace.get_neighbors(at, "adjacent")}
                best = min(costs, key=costs.get)
                if costs[best] >= cost:
                    return at, cost
                at, cost = best, costs[best]

    def test_on_a_device(self):
        results, environment = tune(strategy=OptAlgWrapper(self.Downhill()), cache="own.json",
                                    answer=[2 * numbers(), None, None, None], restrictions="block_size_x < 64",
                                    tune_params={"step": [3, 2, 1]}, metrics={"cost": "step + block_size_x / 1000"},
                                    objective="cost", objective_higher_is_better=False)
        self.assertEqual(results[0]["__error__"], "RuntimeFailedConfig")  # a work group of 16
        best = environment["best_config"]
        self.assertEqual((best["block_size_x"], best["step"]), (32, 1))
        found = json.loads(pathlib.Path("own.json").read_text())["cache"]
        self.assertEqual(set(found), {f"{row['block_size_x']},{row['step']}" for row in results})

    def test_the_budget_ends_it(self):
        results, _ = tune(strategy=OptAlgWrapper(self.Downhill()), strategy_options={"max_fevals": 2},
                          tune_params={"step": [3, 2, 1]})
        self.assertEqual(len(results), 2)

    def test_in_a_simulation(self):
        entries = {str(x): {"x": x, "time": 1.0 + (x - 7) ** 2} for x in range(20)}
        head = {"device_name": "a card", "kernel_name": "k", "problem_size": 64, "tune_params_keys": ["x"],
                "tune_params": {"x": list(range(20))}, "objective": "time", "cache": entries}
        pathlib.Path("downhill.json").write_text(json.dumps(head))
        results, environment = kernel_tuner.tune_cache("downhill.json", strategy=OptAlgWrapper(self.Downhill()),
                                                       quiet=True)
        self.assertEqual(environment["best_config"]["x"], 7)
        self.assertEqual({row["x"] for row in results}, set(range(9)))
        self.assertEqual(environment["device_name"], "a card")


class Objectives(Device):
    def test_metrics_as_functions(self):
        results, environment = tune(
            metrics={"width": lambda p: p["block_size_x"], "GFLOP/s": lambda p: p["width"] + 0 * p["time"]},
            objective="GFLOP/s")
        self.assertEqual(environment["best_config"]["block_size_x"], 64)
        results, environment = tune(metrics={"width": "block_size_x"}, objective="width",
                                    objective_higher_is_better=False)
        self.assertEqual(environment["best_config"]["block_size_x"], 16)
        with self.assertRaisesRegex(libtune.ArgumentError, "say by objective_higher_is_better.*width"):
            tune(metrics={"width": "block_size_x"}, objective="width")
        with self.assertRaisesRegex(libtune.ArgumentError, "'GB/s' is no metric"):
            tune(objective="GB/s")

    def test_what_a_metric_raises_ends_the_search(self):
        with self.assertRaises(KeyError):
            tune(metrics={"GB/s": lambda p: p["no such"]}, objective="GB/s")

    def test_several_objectives(self):
        results, environment = tune(metrics={"a": "block_size_x", "b": "-abs(block_size_x - 32)"},
                                    objectives={"a": True, "b": True})
        self.assertEqual(sizes(environment["best_config"]), [32, 64])
        self.assertEqual(sorted(row["block_size_x"] for row in results if row.get("optimal")), [32, 64])

    def test_observers(self):
        class Counter(BenchmarkObserver):
            def __init__(self):
                self.calls = []

            def register_configuration(self, params):
                self.calls = [params["block_size_x"]]

            def before_start(self):
                self.calls.append("before")

            def after_start(self):
                self.calls.append("started")

            def after_finish(self):
                self.calls.append("after")

            def get_results(self):
                return {"calls": list(self.calls), "cost": 1.0 / self.calls[0]}

        counter = Counter()
        results, environment = tune(observers=[counter, lambda given: Counter()], iterations=3, objective="cost",
                                    objective_higher_is_better=False)
        for row in results:
            self.assertEqual(row["calls"], [row["block_size_x"]] + ["before", "started", "after"] * 3)
        self.assertEqual(environment["best_config"]["block_size_x"], 64)
        self.assertEqual(counter.dev.name, environment["device_name"])

    def test_what_an_observer_raises_ends_the_search(self):
        class Broken(BenchmarkObserver):
            def before_start(self):
                raise OSError("no sensor")

            def get_results(self):
                return {}

        with self.assertRaisesRegex(OSError, "no sensor"):
            tune(observers=[Broken()])

    def test_power(self):
        """By a stand-in of NVML, which says 100 W, and more for larger work groups."""
        class Nvml(types.ModuleType):
            NVML_CLOCK_GRAPHICS, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 0, 2, 0

            def nvmlInit(self):
                pass

            def nvmlDeviceGetHandleByPciBusId(self, address):
                return "the device " + address

            def nvmlDeviceGetClockInfo(self, device, kind):
                return 1000 + kind

            def nvmlDeviceGetTemperature(self, device, kind):
                return 50

            def nvmlDeviceGetPowerUsage(self, device):
                return 100_000

        observer = NVMLObserver(["nvml_power", "nvml_energy", "mem_freq", "temperature"], continuous_duration=0.01)
        device = types.SimpleNamespace(backend="CUDA", pci_address="0000:01:00.0")
        with unittest.mock.patch.dict(sys.modules, pynvml=Nvml("pynvml")):
            observer.register_device(types.SimpleNamespace(name="a card", context=types.SimpleNamespace(device=device)))
            observation = Observation(make_observers([observer], {}), 3, Parameters({"x": [1]}))
            runs = []
            observation({"x": 1}, lambda: runs.append(1), lambda: time.sleep(1e-3))
            found = observation.of({"x": 1})
        self.assertEqual((found["nvml_power"], found["mem_freq"], found["temperature"]), (100, 1002, 50))
        self.assertGreater(found["nvml_energy"], 0)
        self.assertGreater(len(runs), 3)
        with self.assertRaisesRegex(libtune.ArgumentError, "no 'volume'"):
            NVMLObserver(["volume"])
        if libtune.select_device().backend == "OpenCL":
            with self.assertRaisesRegex(libtune.ArgumentError, "devices of CUDA"):
                tune(observers=[observer])


class Caches(Device):
    def test_written_read_and_resumed(self):
        first, _ = tune(cache="scale", tune_params={"block_size_x": [16, 32]}, metrics={"w": "block_size_x"})
        found = json.loads(pathlib.Path("scale.json").read_text())
        self.assertEqual(found["kernel_name"], "scale")
        self.assertEqual(found["tune_params_keys"], ["block_size_x"])
        self.assertEqual(set(found["cache"]), {"16", "32"})
        self.assertEqual(found["cache"]["32"]["time"], next(r["time"] for r in first if r["block_size_x"] == 32))
        measured = []
        again, environment = tune(cache=pathlib.Path("scale.json"),
                                  verify=lambda answer, result: measured.append(1) or True)
        self.assertEqual(sizes(again), [16, 32, 64])
        self.assertEqual([row["time"] for row in again if row["block_size_x"] == 32], [found["cache"]["32"]["time"]])
        self.assertEqual(len(measured), 1)  # 64 alone
        self.assertEqual(environment["best_config"]["time"], min(row["time"] for row in again))
        whole, _ = tune(cache="scale.json", verify=lambda *_: self.fail("it is measured again"))
        self.assertEqual(sizes(whole), [16, 32, 64])

    def test_survives_the_end_of_the_program(self):
        tune(cache="cut.json")
        text = pathlib.Path("cut.json").read_text()
        kept = text[: text.index('"64"')] if text.index('"64"') > text.index('"32"') else text[: text.index('"32"')]
        for rest in ("", '"99": {"block_si'):
            pathlib.Path("cut.json").write_text(kept.rstrip() + "\n" * bool(rest) + rest)
            results, _ = tune(cache="cut.json")
            self.assertEqual(sizes(results), [16, 32, 64])
        json.loads(pathlib.Path("cut.json").read_text())

    def test_of_something_else(self):
        tune(cache="else.json")
        for more, text in (({"problem_size": 101}, "size 100, not 101"),
                           ({"tune_params": {"x": [1]}}, "others than block_size_x, x")):
            with self.assertRaisesRegex(ValueError, text):
                tune(cache="else.json", **more)
        head = json.loads(pathlib.Path("else.json").read_text())
        pathlib.Path("else.json").write_text(json.dumps({**head, "device_name": "another"}))
        with self.assertRaisesRegex(ValueError, "another"):
            tune(cache="else.json")

    def test_simulation(self):
        entries = {str(x): {"x": x, "time": 1.0 + (x - 7) ** 2, "compile_time": 10.0, "verification_time": 0,
                            "benchmark_time": 5.0} for x in range(20)}
        entries["7"] = {"x": 7, "__error__": "CompilationFailedConfig", "compile_time": 1.0}
        head = {"device_name": "a card", "kernel_name": "k", "problem_size": [64, 64], "tune_params_keys": ["x"],
                "tune_params": {"x": list(range(20))}, "objective": "time", "cache": entries}
        pathlib.Path("sim.json").write_text(json.dumps(head))
        results, environment = kernel_tuner.tune_cache("sim.json", quiet=True)
        self.assertEqual(len(results), 19)
        self.assertEqual(environment["best_config"]["time"], 2)
        self.assertEqual(environment["device_name"], "a card")
        results, environment = kernel_tuner.tune_kernel(
            "k", "", (64, 64), [], head["tune_params"], cache="sim", simulation_mode=True, quiet=True,
            restrictions=["x > 10"], metrics={"n": lambda p: 10 / p["time"]}, objective="n",
            objective_higher_is_better=True, strategy="genetic_algorithm", strategy_options={"max_fevals": 5})
        self.assertEqual(len(results), 5)
        self.assertTrue(all(row["x"] > 10 for row in results))
        self.assertEqual(environment["best_config"]["n"], max(row["n"] for row in results))
        self.assertEqual(environment["simulated_time"], 75)
        with self.assertRaisesRegex(ValueError, "there is no"):
            kernel_tuner.tune_kernel("k", "", 1, [], {"x": [1]}, cache="none.json", simulation_mode=True)


class Files(unittest.TestCase):
    RESULTS = [{"a": 1, "b": 4, "time": 5.0}, {"a": 2, "b": 5, "time": 5.1}, {"a": 3, "b": 6, "time": 9.0},
               {"a": 4, "b": 6, "time": math.inf, "__error__": "RuntimeFailedConfig"}]

    def store(self, device, size, results):
        kernel_tuner.store_results("store.json", "k", "text", {"a": [], "b": []}, size, results,
                                   {"device_name": device})

    def test_results_and_headers(self):
        self.store("My GPU", (100, 10), self.RESULTS)
        self.store("My GPU", 1000, self.RESULTS[1:])
        self.store("Your-GPU", 1000, self.RESULTS[2:])
        self.store("Your-GPU", 1000, self.RESULTS[2:])  # replaces them
        found = json.loads(pathlib.Path("store.json").read_text())
        self.assertEqual(len(found["data"]), 4)
        self.assertEqual({each["problem_size"] for each in found["data"]}, {"100x10", "1000"})
        self.assertEqual({each["device_name"] for each in found["data"]}, {"My_GPU", "Your_GPU"})
        kernel_tuner.create_device_targets("targets.h", "store.json")
        text = pathlib.Path("targets.h").read_text()
        self.assertIn("#ifdef TARGET_My_GPU\n#define a 2\n#define b 5\n", text)
        self.assertEqual(kernel_tuner.TuneResults("store.json").get_best_config("My GPU", (100, 10)), {"a": 1, "b": 4})

    def test_t4(self):
        kernel_tuner.store_output_file("t4", self.RESULTS, {"a": [], "b": []})
        found = json.loads(pathlib.Path("t4.json").read_text())
        self.assertEqual([each["invalidity"] for each in found["results"]], ["correct"] * 3 + ["runtime"])
        self.assertEqual(found["results"][0]["configuration"], {"a": 1, "b": 4})
        self.assertEqual(found["results"][0]["measurements"], [{"name": "time", "value": 5.0, "unit": "ms"}])


class T1(Device):
    def test_a_problem(self):
        pathlib.Path("scale.cl").write_text(SCALE)
        problem = {
            "ConfigurationSpace": {
                "TuningParameters": [{"Name": "block_size_x", "Type": "int", "Values": "[2**i for i in range(4, 7)]"}],
                "Conditions": [{"Expression": "block_size_x < 64", "Parameters": ["block_size_x"]}]},
            "KernelSpecification": {
                "Language": libtune.select_device().backend, "KernelName": "scale", "KernelFile": "scale.cl",
                "GlobalSize": {"X": "128"}, "LocalSize": {"X": "block_size_x"},
                "Arguments": [
                    {"Name": "to", "Type": "float", "MemoryType": "Vector", "FillType": "Constant", "FillValue": 0,
                     "Size": "ProblemSize[0]"},
                    {"Name": "from", "Type": "float", "MemoryType": "Vector", "FillType": "Random", "Size": 128},
                    {"Name": "by", "Type": "float", "MemoryType": "Scalar", "FillValue": 2},
                    {"Name": "size", "Type": "int32", "MemoryType": "Scalar", "FillValue": 128}]},
            "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 10}]}
        pathlib.Path("t1.json").write_text(json.dumps(problem))
        metadata, results = kernel_tuner.tune_kernel_T1("t1.json")
        self.assertEqual({each["configuration"]["block_size_x"] for each in results["results"]}, {16, 32})
        self.assertIn("metadata", metadata)


class Helpers(unittest.TestCase):
    def test_grids(self):
        grid = util.get_grid_dimensions([1024, 1024, 1], {"block_y": 37}, [[], ["(block_y+2)/8"], None], ["x", "y", "z"])
        self.assertEqual(grid, (1024, 256, 1))
        self.assertEqual(util.get_problem_size(("block_x/2", 8), {"block_x": 41}), [20, 8, 1])
        self.assertEqual(util.get_thread_block_dimensions({"block_size_y": 4.0}), (256, 4, 1))

    def test_spaces(self):
        params = {"block_size_x": [1, 2, 4, 8, 16] + [32 * i for i in range(1, 33)],
                  "block_size_y": [2**i for i in range(6)], "tile_size_x": list(range(1, 11))}
        wanted = [(x, y, t) for x in params["block_size_x"] for y in params["block_size_y"]
                  for t in params["tile_size_x"] if 32 <= x * y <= 1024 and (y == 1 or 8 % t == 0)]
        space = kernel_tuner.Searchspace(params, ["block_size_x*block_size_y >= 32", "y_is_one or 8 % tile_size_x == 0"
                                                  .replace("y_is_one", "block_size_y == 1")], 1024)
        self.assertEqual(sorted(space.list), sorted(wanted))
        self.assertTrue(all(space.get_param_config_index(each) == place for place, each in enumerate(space)))
        self.assertEqual(len(set(space.get_random_sample(50))), 50)

    def test_neighbours(self):
        space = kernel_tuner.Searchspace({"x": [1, 1.5, 2, 3], "y": [4, 5.5], "z": ["a", "b"]}, ["y % x == 1"], 1024)
        self.assertEqual(space.size, 6)
        own = (1, 4, "a")  # not in the space
        for method, wanted in (("Hamming", {(1.5, 4, "a"), (3, 4, "a")}), ("Hamming-adjacent", {(1.5, 4, "a")}),
                               ("adjacent", {(1.5, y, z) for y in (4, 5.5) for z in "ab"} & set(space.list)),
                               ("strictly-adjacent", {(1.5, 4, "a"), (1.5, 4, "b"), (1.5, 5.5, "a"), (1.5, 5.5, "b")})):
            self.assertEqual(set(space.get_neighbors(own, method)), wanted, method)

    def test_restrictions_mean_what_python_means(self):
        guarded = "tile * scale > 0 and 64 % tile == 0"
        allowed = [(t, s) for t in (0, 1, 2, 4) for s in (1, 2) if util.check_restrictions([guarded], {"tile": t, "scale": s})]
        self.assertEqual(len(allowed), 6)
        self.assertEqual([x for x in (0.1, 0.2, 0.25, 0.5) if util.check_restrictions("1 % x == 0", {"x": x})], [0.25, 0.5])
        with self.assertRaisesRegex(ValueError, "'x <' is no expression"):
            util.check_restrictions(["x <"], {"x": 1})
        with self.assertRaisesRegex(ValueError, "reads 'y'"):
            util.check_restrictions([(lambda y: y, ["y"])], {"x": 1})

    def test_the_page_has_all_arguments_and_strategies(self):
        root = pathlib.Path(__file__).resolve().parents[3]
        page = (root / "docs/from-kernel-tuner.md").read_text()
        rows = [line.split("|") for line in page.splitlines() if line.startswith("|")]
        shown = {name for row in rows if row[2].strip() in ("the same", "mapped", "refused")
                 for name in re.findall("`([a-z_]+)`", row[1])}
        self.assertEqual(shown, set(inspect.signature(libtune.tune_kernel).parameters))
        strategies = page[page.index("| strategy | here |"):]
        strategies = strategies[: strategies.index("\n\n")]
        named = set(re.findall("`([a-z_0-9]+)`", "".join(row.split("|")[1] for row in strategies.splitlines())))
        self.assertEqual(named, set(kernel_tuner.strategies.strategy_map))

    def test_what_there_is_not(self):
        for given, text in [({"simulation_mode": True}, "simulation_mode"), ({"texmem_args": {"t": 1}}, "tune::texture"),
                            ({"lang": "HIP"}, "no language 'HIP'"), ({"lang": "C"}, "libtune.tune"),
                            ({"tune_params": {"cuda_sm_percentage": [50]}}, "multiprocessors")]:
            with self.assertRaisesRegex(libtune.ArgumentError, text):
                tune(**given)


if __name__ == "__main__":
    unittest.main(verbosity=2)
