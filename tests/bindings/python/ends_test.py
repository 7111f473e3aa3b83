# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that end while libtune is in use: nothing terminates them, and nothing keeps them."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

import libtune

PROGRAM = """
import os, signal, sys, threading, time
import numpy
import libtune

context = libtune.Context(database=os.path.join(sys.argv[1], "tuning.db"), budget="10 min", mode="force")
database = libtune.Database(os.path.join(sys.argv[1], "tuning.db"))
held = libtune.DeviceArray(context, 100).set(numpy.zeros(100, "float32"))
operation = libtune.Context(context.device, mode="default", database="").template(
    "transpose", type="float32").instantiate(rows=3, columns=4).bind("src", numpy.zeros((3, 4), "float32"))
operation.run()
capsule = held.__dlpack__()
searches = threading.Event()
digits = {f"a{i}": range(10) for i in range(5)}

def measure(at, iterations):
    if iterations > 1:
        searches.set()
    return 1e-3 + 1e-9 * at["a0"]

def search_a_function():
    libtune.tune("endless", digits, measure, context=context, key={"n": 1})

def search_a_kernel():
    kernel = libtune.Kernel("f", "KERNEL void f(GLOBAL float* x) { x[get_global_id(0)] = block_size_x + a0; }", 1 << 16)
    kernel.parameter("block_size_x", [16, 32, 64]).parameters(digits)
    kernel.arguments(libtune.out(numpy.zeros(1 << 16, "float32")))
    kernel.on_trial(lambda *_: searches.set())
    kernel.tune(context)

def search_an_operation():
    searches.set()
    context.template("transpose", type="float64")

def search_in_a_child():
    libtune.tune_in_children()
    search_an_operation()

threading.excepthook = lambda *_: None
if sys.argv[2] != "nothing":
    threading.Thread(target=globals()[sys.argv[2]], daemon=True).start()
    searches.wait(60)
    time.sleep(float(sys.argv[4]))
"""

ENDS = {
    "": 0,
    "sys.exit(3)": 3,
    "raise ValueError": 1,
    "os._exit(4)": 4,
    "os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)": -signal.SIGTERM,
    "os.kill(os.getpid(), signal.SIGINT); time.sleep(60)": -signal.SIGINT,
}


class Ends(unittest.TestCase):
    def check(self, searches, end, status, pause):
        with self.subTest(searches=searches, end=end), tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(
                [sys.executable, "-c", PROGRAM + end, folder, searches, end, str(pause)],
                capture_output=True, text=True, timeout=100,
            )
            self.assertEqual(ended.returncode, status, ended.stderr)
            self.assertNotRegex(ended.stderr, "terminate called|Fatal Python error|not rethrown")

    def test_with_everything_alive(self):
        for end, status in ENDS.items():
            self.check("nothing", end, status, 0)

    def test_in_the_middle_of_a_search(self):
        for searches in ("search_a_function", "search_a_kernel", "search_an_operation", "search_in_a_child"):
            self.check(searches, "", 0, 0.2)
        for end, status in list(ENDS.items())[1:]:
            self.check("search_a_function", end, status, 0)


def setUpModule():
    if not libtune.devices():
        raise unittest.SkipTest("there is no device")


if __name__ == "__main__":
    unittest.main(verbosity=2)
