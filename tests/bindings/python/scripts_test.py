# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts that were written for Kernel Tuner run with another import, and find a winner.

Each file of scripts/ runs with Kernel Tuner 1.5.0 as it is. With its path as an argument this program runs one."""

import contextlib
import io
import math
import os
import pathlib
import re
import sys
import tempfile
import unittest
import warnings

import libtune

SCRIPTS = pathlib.Path(__file__).resolve().parent / "scripts"


def changed(text):
    """A script with another import, and nothing else."""
    text = re.sub(r"^from kernel_tuner\b", "from libtune.kernel_tuner", text, flags=re.M)
    return re.sub(r"^import kernel_tuner$", "import libtune.kernel_tuner as kernel_tuner", text, flags=re.M)


def tune(path):
    space = {"__name__": path.stem, "__file__": str(path)}
    exec(compile(changed(path.read_text()), str(path), "exec"), space)
    return space["tune"]()


class Scripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if all(device.backend != "OpenCL" for device in libtune.devices()):
            raise unittest.SkipTest("there is no device of OpenCL")

    def run_script(self, path):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as told:
            os.chdir(folder)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    results, environment = tune(path)
            finally:
                os.chdir(before)
        best = environment["best_config"]
        self.assertTrue(math.isfinite(best["time"]) and best["time"] > 0, best)
        self.assertFalse([row for row in results if "__error__" in row])
        self.assertIn("best: ", told.getvalue())


def add(path):
    setattr(Scripts, f"test_{path.stem}", lambda self: self.run_script(path))


for each in sorted(SCRIPTS.glob("*.py")):
    add(each)

if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].endswith(".py"):
        print(tune(pathlib.Path(sys.argv[1]))[1]["best_config"])
    else:
        unittest.main(verbosity=2)
