# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of Kernel Tuner with another import: strategies, objectives, metrics and observers."""

import json
import pathlib
import sys
import time
import types
import unittest
import unittest.mock
import warnings

import numpy

import libtune
import libtune.kernel_tuner as kernel_tuner
from kernel_tuner_fixture import Device, numbers, setUpModule, sizes, tearDownModule, tune
from libtune.kernel_tuner._observation import Observation, make_observers
from libtune.kernel_tuner.accuracy import AccuracyObserver, TunablePrecision, error_metric_from_name
from libtune.kernel_tuner.observers import BenchmarkObserver
from libtune.kernel_tuner.observers.nvml import NVMLObserver
from libtune.kernel_tuner.parameters import Parameters
from libtune.kernel_tuner.strategies.wrapper import OptAlg, OptAlgWrapper


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

    SUM = """
    KERNEL void sum(GLOBAL real* to, GLOBAL const real* from) {
      const int i = get_group_id(0) * block_size_x + get_local_id(0);
      real made = 0;
      for (int k = 0; k < 1000; ++k) made += from[i];
      to[i] = made;
    }
    """

    def test_precisions(self):
        x = numpy.linspace(0.1, 0.9, 64)
        given = [TunablePrecision("real", 0 * x, ["float", "double"]), TunablePrecision("real", x)]
        params = {"block_size_x": [16, 32], "real": ["float", "double"]}
        results, environment = kernel_tuner.tune_kernel(
            "sum", self.SUM, 64, given, params, answer=[1000 * x, None], observers=[AccuracyObserver("max rel")],
            objective="error", objective_higher_is_better=False, cache="precisions", quiet=True)
        errors = {(row["block_size_x"], row["real"]): row["error"] for row in results}
        self.assertEqual(len(errors), 4)
        self.assertTrue(all(1e-8 < errors[size, "float"] < 1e-3 for size in (16, 32)))
        self.assertTrue(all(errors[size, "double"] < 1e-12 for size in (16, 32)))
        self.assertEqual(environment["best_config"]["real"], "double")
        found = json.loads(pathlib.Path("precisions.json").read_text())
        self.assertEqual((len(found["cache"]), found["tune_params"]["real"]), (4, ["float", "double"]))
        made = kernel_tuner.run_kernel("sum", self.SUM, 64, given, {"block_size_x": 16, "real": "float"})
        self.assertEqual(made[0].dtype, numpy.float32)

    def test_errors_by_name(self):
        a, b = numpy.array([0, 1, 2, 3]), numpy.array([1, 1, 2, 5])
        for name, wanted in (("mse", 1.25), ("root_mean_square_error", 1.25**0.5), ("mae", 0.75), ("max abs", 2)):
            self.assertAlmostEqual(error_metric_from_name(name)(a, b), wanted)
        self.assertAlmostEqual(error_metric_from_name("max rel", 0.1)(a, b), 10)
        with self.assertRaisesRegex(ValueError, "no error 'luck'"):
            error_metric_from_name("luck")

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
