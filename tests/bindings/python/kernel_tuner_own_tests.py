# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs Kernel Tuner's own tests with libtune.kernel_tuner in place of its functions:

    PYTHONPATH=build/ci/python python3 tests/bindings/python/kernel_tuner_own_tests.py FOLDER

FOLDER has the folder test/ of the sources of Kernel Tuner 1.5.0. It needs kernel_tuner, pytest, pyopencl and jsonschema.
The status is 0 if those that fail are those that docs/from-kernel-tuner.md lists."""

import importlib
import os
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/from-kernel-tuner.md"
FILES = ["accuracy", "custom_optimizer", "file_utils", "integration", "observers", "runners", "searchspace",
         "time_budgets", "util_functions"]
REPLACED = {
    "": ["tune_kernel", "run_kernel", "tune_cache", "tune_kernel_T1", "store_results", "create_device_targets"],
    ".interface": ["tune_kernel", "run_kernel", "tune_cache", "tune_kernel_T1"],
    ".accuracy": ["Tunable", "TunablePrecision", "AccuracyObserver", "error_metric_from_name"],
    ".file_utils": ["get_input_file", "store_output_file", "store_metadata_file", "get_t4_results", "get_t4_metadata"],
    ".integration": ["store_results", "create_device_targets", "TuneResults"],
    ".searchspace": ["Searchspace"],
    ".strategies.wrapper": ["OptAlg", "OptAlgWrapper"],
}


def replace():
    """Puts libtune's functions and classes into the modules of Kernel Tuner."""
    package = importlib.import_module("libtune.kernel_tuner")
    util = package.util
    for module, names in {**REPLACED, ".util": util.__all__}.items():
        theirs = importlib.import_module("kernel_tuner" + module)
        own = importlib.import_module("libtune.kernel_tuner" + module)
        for name in names:
            setattr(theirs, name, getattr(own, name, None) or getattr(package, name))


class Failures:
    """Collects the names of the tests that fail."""

    def __init__(self):
        self.names, self.passed = set(), 0

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.names.add(report.nodeid.split("::")[-1].split("[")[0])
        self.passed += report.when == "call" and report.passed


def main():
    import pytest

    os.chdir(sys.argv[1])
    replace()
    failures = Failures()
    files = [f"test/test_{name}.py" for name in FILES] + ["test/strategies/test_strategies.py"]
    pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no", *files], plugins=[failures])
    page = PAGE.read_text()
    listed = page[page.index("**Kernel Tuner's own tests**"):page.index("## A script, line by line")]
    known = set(re.findall(r"`(test_\w+)`", listed))
    print(f"{failures.passed} passed")
    for text, names in (("fail and are not listed", failures.names - known), ("are listed and pass", known - failures.names)):
        if names:
            print(f"these {text}: {', '.join(sorted(names))}")
    return 0 if failures.names == known else 1


if __name__ == "__main__":
    sys.exit(main())
