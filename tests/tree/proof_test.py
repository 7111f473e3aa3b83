# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""packaging/prove: docs/release.md is made of the results, and results are what ctest printed."""
import importlib.machinery
import importlib.util
import os
import sys
import unittest

SOURCES = sys.argv.pop(1)


def load():
    loader = importlib.machinery.SourceFileLoader("prove", os.path.join(SOURCES, "packaging", "prove"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("prove", loader))
    loader.exec_module(module)
    return module


PROVE = load()

# Three runs of ctest in one log, the last of CMake 4: in the first one test failed and one timed out; in the second one
# was skipped, and a further one, which the number of all tests leaves out, disabled.
LOG = """
$ ./dev test
Test project /root/libtune/build/ci
67% tests passed, 2 tests failed out of 6

Total Test time (real) = 219.61 sec

The following tests FAILED:
\t  4 - tree.words (Failed)
\t  5 - consumer (Timeout)
Errors while running CTest
$ ctest --preset ci -R sources
Test project /root/libtune/build/ci
100% tests passed, 0 tests failed out of 3

Total Test time (real) =   1.00 sec

The following tests did not run:
\t  2 - device.cuda (Skipped)
\t  4 - cuda.counters (Disabled)
$ ctest --preset ci -R base
Test project /root/libtune/build/ci
100% tests passed out of 4
"""

MACHINE = {"system": "Debian GNU/Linux 12 (bookworm)", "compiler": "g++ 12", "cores": 2, "processor": "", "gpus": []}


def result(outcome, note=""):
    return {"commit": "0123456789abcdef", "date": "2026-01-02", "machine": MACHINE, "outcome": outcome, "seconds": 180,
            "tests": {"passed": 5, "failed": 1, "skipped": 2}, "note": note}


class Page(unittest.TestCase):
    def test_is_made_of_the_committed_results(self):
        with open(PROVE.PAGE, encoding="utf-8") as page:
            self.assertEqual(page.read(), PROVE.page(PROVE.steps(), PROVE.read_results()),
                             "run packaging/prove page")

    def test_has_a_row_for_each_step_and_the_reason_of_each_that_is_not_green(self):
        table = {name: PROVE.Step(name, f"proves {name}", None) for name in ("good", "bad", "absent", "untried")}
        page = PROVE.page(table, {"good": result("green"),
                                  "bad": {**result("failed", "`x` ended with 1"), "remark": "mended since"},
                                  "absent": {"commit": "0", "outcome": "not run", "note": "needs one GPU"}})
        self.assertIn("| `good` | proves good | green | 5 / 1 / 2 | 3 min | 012345678 | 2026-01-02 | Debian", page)
        reasons = page[page.index("## Not green"):]
        self.assertNotIn("good", reasons)
        self.assertIn("- `bad`: failed: `x` ended with 1; mended since.", reasons)
        self.assertIn("- `absent`: not run: needs one GPU.", reasons)
        self.assertIn("- `untried`: not run: has no result.", reasons)


class Results(unittest.TestCase):
    def test_are_of_steps(self):
        self.assertLessEqual(set(PROVE.read_results()), set(PROVE.steps()))

    def test_that_are_green_have_no_failed_test_or_command(self):
        for name, found in PROVE.read_results().items():
            if found["outcome"] == "green":
                self.assertEqual(found["tests"]["failed"], 0, name)
                self.assertEqual({command["status"] for command in found["commands"]}, {0}, name)

    def test_are_counted_from_all_runs_of_ctest(self):
        counts, failed, skipped = PROVE.count_tests(LOG)
        self.assertEqual(counts, {"passed": 10, "failed": 2, "skipped": 2})
        self.assertEqual(failed, ["tree.words", "consumer"])
        self.assertEqual(skipped, ["device.cuda", "cuda.counters"])


if __name__ == "__main__":
    unittest.main()
