# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of Kernel Tuner with another import: kernels, spaces, answers and results."""

import json
import math
import pathlib
import unittest
import warnings

import numpy

import libtune
import libtune.kernel_tuner as kernel_tuner
from kernel_tuner_fixture import SCALE, Device, arguments, numbers, setUpModule, sizes, tearDownModule, tune
from libtune.kernel_tuner._results import rows_of
from libtune.kernel_tuner.observers import OutputObserver
from libtune.kernel_tuner.parameters import Parameters


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
        KERNEL void test(GLOBAL pair* to, GLOBAL const unsigned char* from, pair add) {
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

    def test_the_usual_extents_in_capitals(self):
        source = SCALE.replace("block_size_x == 16", "get_local_size(0) != BLOCK_SIZE_X")
        results, _ = libtune.tune_kernel("scale", source, 128, arguments(), {"BLOCK_SIZE_X": [32, 64]}, quiet=True,
                                         answer=[2 * numbers(), None, None, None])
        self.assertEqual([row["BLOCK_SIZE_X"] for row in results if "__error__" not in row], [32, 64])

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
        source = """KERNEL void turn(GLOBAL int* data DYNAMIC_LOCAL_PARAMETER(int, tile)) {
          DYNAMIC_LOCAL_DECL(int, tile);
          const int i = get_local_id(0), first = get_group_id(0) * block_size_x;
          tile[i] = data[first + i];
          BARRIER();
          data[first + i] = tile[block_size_x - 1 - i];
        }"""
        given = numpy.arange(64, dtype="int32")
        for size in ("block_size_x * 4", lambda p: 4 * p["block_size_x"], 256):
            results, _ = libtune.tune_kernel("turn", source, 64, [given], {"block_size_x": [32, 64]}, quiet=True,
                                             smem_args={"size": size}, verify=lambda _, found: found[0][-1] in (0, 32))
            self.assertFalse([row for row in results if "__error__" in row])
        with self.assertRaisesRegex(libtune.ArgumentError, "smem_args has 'banks'"):
            tune(smem_args={"banks": 4})


if __name__ == "__main__":
    unittest.main(verbosity=2)
