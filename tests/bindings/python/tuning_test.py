# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tuning of kernels and of functions from Python."""

import math
import os
import signal
import tempfile
import threading
import time
import unittest

import numpy

import libtune

context = None
folder = None

SCALE = """
KERNEL void scale(GLOBAL float* to, GLOBAL const float* from, float by, int size) {
  const int i = get_global_id(0);
  if (i < size) to[i] = by * from[i] + (block_size_x == 16);
}
"""


def setUpModule():
    global context, folder
    if not libtune.devices():
        raise unittest.SkipTest("there is no device")
    folder = tempfile.TemporaryDirectory()
    context = libtune.Context(database=os.path.join(folder.name, "tuning.db"), isolation="off")


def tearDownModule():
    if folder is not None:
        folder.cleanup()


def numbers(size=100):
    return numpy.arange(size, dtype="float32")


def scale_kernel(source=SCALE, size=100):
    kernel = libtune.Kernel("scale", source, size)
    kernel.parameter("block_size_x", [16, 32, 64])
    given = numbers(size)
    kernel.arguments(
        libtune.out(given, "to"), libtune.in_(given, "from"), numpy.float32(2), numpy.int32(size)
    )
    return kernel


def by_block_size(tuned):
    """Outcomes and reasons: trials come in the order in which they were compiled."""
    trials = tuned.trials()
    return dict(zip(trials["block_size_x"], zip(trials["outcome"], trials["message"])))


class Functions(unittest.TestCase):
    def test_the_best_is_found(self):
        calls = []

        def measure(at, iterations):
            calls.append(iterations)
            return 1e-3 * (1 + abs(at["x"] - 2))

        tuned = libtune.tune("best", {"x": [1, 2, 3], "y": [True, 0.5, "a"]}, measure,
                             restrictions=["x < 3", lambda at: at["y"] != "a"], context=context)
        self.assertEqual(tuned.best["x"], 2)
        self.assertAlmostEqual(tuned.time_ns, 1e6, delta=1)
        self.assertTrue(all(each >= 1 for each in calls))
        trials = tuned.trials()
        self.assertEqual(len(trials["x"]), 4)
        self.assertEqual(set(trials["outcome"]), {"measured"})

    def test_reasons(self):
        def measure(at, _):
            if at["x"] == 1:
                raise ValueError("one is wrong")
            if at["x"] == 2:
                raise libtune.SkipConfiguration("two is not for this device")
            if at["x"] == 3:
                return "a text"
            return 1.0

        heard = []
        tuned = libtune.tune("reasons", {"x": [1, 2, 3, 4]}, measure, context=context,
                             on_trial=lambda *trial: heard.append(trial))
        trials = tuned.trials()
        told = dict(zip(trials["x"], zip(trials["outcome"], trials["message"])))
        self.assertEqual(told[1], ("failed", "ValueError: one is wrong"))
        self.assertEqual(told[2], ("skipped", "two is not for this device"))
        self.assertEqual(told[3][0], "failed")
        self.assertIn("returned 'a text', and the seconds", told[3][1])
        times = {at["x"]: time for at, _, _, time in heard}
        self.assertEqual(sorted(times), [1, 2, 3, 4])
        self.assertTrue(math.isnan(times[1]) and times[4] == 1e9)

    def test_all_fail(self):
        def measure(at, _):
            raise ValueError(f"{at['x']} is wrong")

        with self.assertRaisesRegex(libtune.TuningFailedError, "1 is wrong") as raised:
            libtune.tune("failing", {"x": [1, 2]}, measure, context=context)
        self.assertIsInstance(raised.exception.__cause__, ValueError)
        with self.assertRaises(libtune.TuningFailedError):
            libtune.tune("empty", {"x": [1]}, measure, restrictions=["x > 1"], context=context)

    def test_an_interrupt_ends_the_search(self):
        calls = []

        def measure(at, _):
            calls.append(at["x"])
            if len(calls) == 3:
                raise KeyboardInterrupt
            return 1.0

        with self.assertRaises(KeyboardInterrupt):
            libtune.tune("interrupted", {"x": range(1000)}, measure, context=context,
                         options={"strategy": "exhaustive"})
        self.assertLess(len(calls), 10)

    def test_a_listener_that_raises_ends_the_search(self):
        def hear(*_):
            raise RuntimeError("enough")

        with self.assertRaises(libtune.StoppedError) as raised:
            libtune.tune("ended", {"x": range(100)}, lambda at, _: 1.0, context=context, on_trial=hear)
        self.assertEqual(str(raised.exception.__cause__), "enough")

    def test_remembered(self):
        calls = []

        def measure(at, _):
            calls.append(at)
            return at["x"]

        for turn in range(2):
            tuned = libtune.tune("remembered", {"x": [2, 1]}, measure, context=context, key={"n": 7})
            self.assertEqual(tuned.best, {"x": 1})
            self.assertEqual(tuned.time_ns is None, turn == 1)
            self.assertEqual(len(tuned.trials().get("x", [])), 0 if turn == 1 else 2)
            made, calls = calls, []
            self.assertEqual(bool(made), turn == 0)

    def test_metrics_and_goals(self):
        tuned = libtune.tune("goal", {"x": [1, 2, 4]}, lambda at, _: 1e-3 * at["x"], context=context,
                             metrics={"work": "x * x / time"}, options={"objective": "max work"})
        self.assertEqual(tuned.best, {"x": 4})
        self.assertTrue(numpy.allclose(tuned.trials()["work"], [1e-6, 2e-6, 4e-6]))

    def test_mistakes(self):
        with self.assertRaisesRegex(libtune.ArgumentError, "column"):
            libtune.tune("wrong", {"x": [1]}, lambda at, _: 1.0, restrictions=["x <"], context=context)
        with self.assertRaisesRegex(TypeError, "not <class 'list'>"):
            libtune.tune("wrong", {"x": [[1]]}, lambda at, _: 1.0, context=context)
        with self.assertRaisesRegex(libtune.Error, "no x here"):
            def refuse(at):
                raise KeyError("no x here")
            libtune.tune("wrong", {"x": [1, 2]}, lambda at, _: 1.0, restrictions=[refuse], context=context)

    def test_other_threads_run_meanwhile(self):
        ticks = []
        done = threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(1)
                time.sleep(0.001)

        kernel = scale_kernel()
        other = threading.Thread(target=tick)
        other.start()
        try:
            kernel.tune(context)
        finally:
            done.set()
            other.join()
        self.assertGreater(len(ticks), 2)


class DeviceHolder:
    """A search of another thread that keeps the device's turn until the end of a block."""

    def __enter__(self):
        self.has_it, self.may_end = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=libtune.tune, args=("holder", {"x": [1]}, self.measure),
                                       kwargs={"context": context})
        self.thread.start()
        self.has_it.wait(60)

    def measure(self, at, iterations):
        if iterations > 1:  # timed, so with the turn
            self.has_it.set()
            self.may_end.wait(60)
        return 1e-3

    def __exit__(self, *_):
        self.may_end.set()
        self.thread.join()


class Signals(unittest.TestCase):
    def setUp(self):  # a job in the background of a shell ignores interrupts
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)

    def test_a_large_search_ends_at_once(self):
        calls = []

        def measure(at, _):
            calls.append(at)
            if len(calls) == 30:
                os.kill(os.getpid(), signal.SIGINT)
            return 1e-3

        with self.assertRaises(KeyboardInterrupt):
            libtune.tune("large", {f"x{i}": range(10) for i in range(5)}, measure, context=context)
        self.assertLess(len(calls), 35)

    def test_what_a_handler_raises_is_the_cause(self):
        def expire(*_):
            raise TimeoutError("over")

        before = signal.signal(signal.SIGALRM, expire)
        try:
            with DeviceHolder(), self.assertRaisesRegex(libtune.StoppedError, "over") as raised:
                threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGALRM)).start()
                libtune.tune("timed", {"x": [1, 2]}, lambda *_: 1.0, context=context)
        finally:
            signal.signal(signal.SIGALRM, before)
        self.assertIsInstance(raised.exception.__cause__, TimeoutError)

    def test_a_wait_for_the_device_ends(self):
        here = libtune.Context(context.device, database="", isolation="off", mode="force")
        waits = [lambda: libtune.tune("waits", {"x": [1, 2]}, lambda *_: 1.0, context=here),
                 lambda: here.template("transpose", type="uint8")]
        for wait in waits:
            with DeviceHolder():
                threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
                with self.assertRaises(KeyboardInterrupt):
                    wait()


class Forks(unittest.TestCase):
    def test_a_forked_process_is_refused(self):
        held = libtune.DeviceArray(context, 4).set(numbers(4))
        calls = [lambda: libtune.tune("forked", {"x": [1]}, lambda *_: 1.0, context=context),
                 lambda: scale_kernel().tune(context), held.get, context.queue.finish, libtune.Context]
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # where one hangs
            refused = 0
            for call in calls:
                try:
                    call()
                except libtune.Error as error:
                    refused += "made by fork" in str(error)
            os._exit(refused)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(calls))
        self.assertTrue((held.get() == numbers(4)).all())


class Kernels(unittest.TestCase):
    def test_answers(self):
        kernel = scale_kernel().answer(0, 2 * numbers())
        tuned = kernel.tune(context)
        self.assertIn(tuned.best["block_size_x"], (32, 64))
        trials = by_block_size(tuned)
        self.assertEqual(trials[16][0], "wrong result")
        self.assertIn("'to'", trials[16][1])
        results = tuned.run()
        self.assertTrue((results[0] == 2 * numbers()).all())
        self.assertEqual(results[2], 2)

    def test_operations(self):
        tuned = scale_kernel().restrict("block_size_x == 32").tune(context)
        operation = tuned.instantiate()
        self.assertEqual(list(operation.slots), ["to", "from"])
        operation.bind("from", numbers() + 1).set_argument(2, numpy.float32(3)).run()
        self.assertTrue((operation.get("to") == 3 * (numbers() + 1)).all())
        with self.assertRaisesRegex(libtune.ArgumentError, "no value of 8 bytes"):
            operation.set_argument(2, numpy.float64(3))

    def test_reference(self):
        kernel = scale_kernel().reference(scale_kernel(), block_size_x=64, rtol=1e-6)
        kernel.vary(1, "shuffled", "extremes").report_accuracy().report_bits()
        tuned = kernel.tune(context)
        trials = by_block_size(tuned)
        self.assertEqual(trials[16][0], "wrong result")
        self.assertIn("'to'", trials[16][1])
        self.assertEqual([trials[size][0] for size in (32, 64)], ["measured"] * 2)
        with self.assertRaisesRegex(libtune.ArgumentError, "the kinds are shuffled, uniform"):
            kernel.vary(1, "ones")
        with self.assertRaisesRegex(libtune.ArgumentError, "no array with contents"):
            kernel.vary(0, "zeros")
        with self.assertRaisesRegex(libtune.ArgumentError, "has no 'block_size_x'"):
            kernel.reference(scale_kernel())

    def test_verify(self):
        seen = []

        def judge(arguments):
            seen.append(len(arguments))
            return None if arguments[0][99] == 198 else f"the last is {arguments[0][99]}"

        trials = by_block_size(scale_kernel().verify(judge).tune(context))
        self.assertIn("the last is 199.0", trials[16][1])
        self.assertEqual(set(seen), {4})

    def test_work(self):
        kernel = scale_kernel().restrict("block_size_x == 32")
        kernel.work(flops="1.0 * problem_size_x", bytes=800, arithmetic="float32")
        trials = kernel.tune(context).trials()
        self.assertEqual((trials["flops"][0], trials["bytes"][0]), (100, 800))
        with self.assertRaisesRegex(libtune.ArgumentError, "no arithmetic 'float8'"):
            kernel.work(flops=1, arithmetic="float8")
        with self.assertRaisesRegex(libtune.ArgumentError, "reads 'm'"):
            scale_kernel().work("2.0 * m").tune(context)

    def test_a_text_for_each_configuration(self):
        def source(at):
            return SCALE.replace("2 *", "").replace("block_size_x == 16", str(at["offset"]))

        kernel = libtune.Kernel("scale", source, 100)
        kernel.parameter("offset", [5]).parameter("block_size_x", [32])
        kernel.arguments(numbers(), numbers(), numpy.float32(2), numpy.int32(100))
        self.assertEqual(kernel.run(context, offset=5, block_size_x=32)[0][1], 7)

    def test_errors(self):
        kernel = libtune.Kernel("scale", "KERNEL void scale( {", 100).parameter("block_size_x", [16])
        with self.assertRaises(libtune.BuildError):
            kernel.run(context)
        with self.assertRaisesRegex(libtune.ElementTypeError, "number of Python.*numpy.float32"):
            scale_kernel().arguments(2.5)
        with self.assertRaisesRegex(libtune.ArgumentError, "argument 2 .* is no array"):
            scale_kernel().answer(2, numbers())
        with self.assertRaisesRegex(libtune.ElementTypeError, "float64, and float32 is needed"):
            scale_kernel().answer(0, numbers().astype("float64"))

    def test_a_tuner_of_keys(self):
        described = []

        @libtune.kernel("python.scale", version=3)
        def scale(n):
            """Scales."""
            described.append(n)
            return scale_kernel(size=n).restrict("block_size_x == 32")

        self.assertEqual(scale.__doc__, "Scales.")
        first = scale(context, n=100)
        again = scale(context, n=100)
        self.assertEqual(first.best, again.best)
        self.assertIsNotNone(first.time_ns)
        self.assertIsNone(again.time_ns)
        self.assertEqual(described, [100, 100])
        found = libtune.Database(os.path.join(folder.name, "tuning.db")).find("python.scale", {"n": 100}, context)
        self.assertEqual(found.values, first.best)

    def test_on_the_device(self):
        held = libtune.DeviceArray(context, 100).set(numbers())
        kernel = libtune.Kernel("scale", SCALE, 100).parameter("block_size_x", [32])
        kernel.arguments(libtune.out(held), libtune.in_(held), numpy.float32(2), numpy.int32(100))
        self.assertTrue((kernel.run(context)[0] == 2 * numbers()).all())
        self.assertTrue((held.get() == numbers()).all())


class Children(unittest.TestCase):
    def test_built_in_operations_are_tuned_in_a_child(self):
        libtune.tune_in_children()
        path = os.path.join(folder.name, "child.db")
        isolated = libtune.Context(context.device, database=path, isolation="on", budget="2 trials", mode="force")
        filled = libtune.operations.fill(numpy.zeros(100, "float32"), 3, isolated)
        self.assertTrue((filled == 3).all())
        trials = libtune.read_database(path, "operations.fill_template.autotune", trials=True, frame=False)
        self.assertEqual(trials["outcome"], ["measured"] * 2)
        # What is described in Python cannot be found by a child.
        with self.assertRaises(libtune.Error):
            libtune.tune("here", {"x": [1]}, lambda at, _: 1.0, context=isolated, key={"n": 1})


if __name__ == "__main__":
    unittest.main(verbosity=2)
