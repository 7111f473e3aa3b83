# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of Kernel Tuner with another import: cache files, T1, T4, stored results, and helpers."""

import inspect
import json
import math
import pathlib
import re
import unittest
import unittest.mock

import libtune
import libtune.kernel_tuner as kernel_tuner
from kernel_tuner_fixture import SCALE, Device, setUpModule, sizes, tearDownModule, tune
from libtune.kernel_tuner import util


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
        self.assertEqual(sizes(tune(cache="scale.json", strategy="bayes_opt", strategy_options={"x0": [16]},
                                    tune_params={"block_size_x": [16, 32, 64, 128]})[0]), [16, 32, 64, 128])
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
        with self.assertRaisesRegex(ValueError, "no configuration 20"):
            kernel_tuner.tune_kernel("k", "", (64, 64), [], {"x": range(21)}, cache="sim", simulation_mode=True,
                                     quiet=True)
        with unittest.mock.patch("libtune.kernel_tuner.simulation.devices", lambda: []):
            results, _ = kernel_tuner.tune_cache("sim.json", quiet=True)
            self.assertEqual(len(results), 19)
            results, _ = kernel_tuner.tune_cache("sim.json", quiet=True, strategy="random_sample",
                                                 strategy_options={"fraction": 0.25})
            self.assertEqual(len(results), 5)
            with self.assertRaises(libtune.NoDeviceError):
                kernel_tuner.tune_cache("sim.json", quiet=True, strategy="bayes_opt")
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
        space = kernel_tuner.Searchspace(params, ["block_size_x*block_size_y >= 32",
                                                  "block_size_y == 1 or 8 % tile_size_x == 0"], 1024)
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
        self.assertEqual(set(space.get_neighbors((1.5, 4, "a"), "closest-param-indices")), {(1.5, 5.5, "a"), (1.5, 4, "b")})
        self.assertEqual([space.get_param_neighbors((1.5, 4, "a"), i, "adjacent", False) for i in range(3)],
                         [[3], [5.5], ["b"]])
        ordered = space.order_param_configs(space.list, [2, 0, 1])
        self.assertEqual(sorted(ordered), sorted(space.list))
        changes = [next(i for i in (2, 0, 1) if each[i] != ordered[0][i]) for each in ordered[1:]]
        self.assertEqual(changes, sorted(changes, key=[2, 0, 1].index))

    def test_views_and_samples(self):
        space = kernel_tuner.Searchspace({"n": [1, 2, 3], "f": [1.0, 2.0, 3.0], "s": ["a", "b"], "b": [True, False]},
                                         ["n + f > 2", "b == False"], 1024)
        self.assertEqual(space.size, 16)
        self.assertEqual(space.tune_param_is_numeric_mask, [True, True, False, False])
        for row, configuration in zip(space.get_list_numpy_numeric(), space):
            self.assertEqual(space.get_param_config_from_numeric(row), configuration)
            indices = space.get_param_indices(configuration)
            self.assertEqual(space.get_param_config_from_param_indices(indices), configuration)
        self.assertEqual(list(space.get_param_indices_lower_bounds()), [0, 0, 0, 1])
        for sample in (space.get_LHS_sample(9), space.get_distributed_random_sample(9, 2)):
            self.assertEqual(len(set(sample) & set(space.list)), 9)

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
