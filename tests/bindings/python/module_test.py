# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Devices, errors, the built-in operations on arrays of numpy, and databases."""

import ctypes
import inspect
import os
import tempfile
import threading
import unittest

import numpy

import libtune
from libtune import databases, operations

context = None


def setUpModule():
    global context
    if not libtune.devices():
        raise unittest.SkipTest("there is no device")
    context = libtune.Context(mode="default", database="")


def random(*shape, dtype="float32"):
    made = numpy.random.default_rng(7).standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        made = made + 1j * numpy.random.default_rng(8).standard_normal(shape)
    return made.astype(dtype)


class Devices(unittest.TestCase):
    def test_properties(self):
        device = libtune.select_device()
        self.assertIn(device.name, repr(device))
        self.assertGreater(device.max_work_group_size, 0)
        self.assertEqual(device.info["backend"], device.backend)
        with self.assertRaises(AttributeError):
            device.price

    def test_contexts(self):
        self.assertEqual(libtune.Context(0).device.info, libtune.devices()[0].info)
        self.assertNotEqual(context.native, 0)
        self.assertNotEqual(context.queue.native, 0)
        shared = libtune.Queue(context, context.queue.native)
        shared.finish()
        self.assertEqual(shared.native, context.queue.native)
        with self.assertRaises(libtune.NoDeviceError):
            libtune.Context(10_000)
        with self.assertRaisesRegex(libtune.ArgumentError, "no option 'speed'"):
            libtune.Context(speed="high")


class Errors(unittest.TestCase):
    def test_bases(self):
        self.assertTrue(issubclass(libtune.ArgumentError, ValueError))
        self.assertTrue(issubclass(libtune.ElementTypeError, TypeError))
        self.assertTrue(issubclass(libtune.OutOfMemoryError, MemoryError))
        for name in libtune.__all__:
            value = getattr(libtune, name)
            if inspect.isclass(value) and issubclass(value, Exception):
                if value is not libtune.SkipConfiguration:
                    self.assertTrue(issubclass(value, libtune.Error), name)

    def test_each_status_has_its_exception(self):
        from libtune import _errors, _libtune

        names = [_libtune.status_name(status) for status in range(len(_errors._TYPES))]
        self.assertEqual(names[0], "LIBTUNE_OK")
        self.assertNotIn("unknown", names)
        self.assertEqual(_libtune.status_name(len(names)), "unknown")
        self.assertIs(_errors._TYPES[names.index("LIBTUNE_NOT_TUNED")], libtune.NotTunedError)

    def test_the_text_is_that_of_the_library(self):
        cached = libtune.Context(mode="cached", database="")
        with self.assertRaisesRegex(libtune.NotTunedError, "transpose_template.autotune.*element_bytes=8"):
            cached.template("transpose", type="float64")
        with self.assertRaisesRegex(libtune.ArgumentError, "no operation 'turn'.*fill, transpose"):
            context.template("turn")
        with self.assertRaisesRegex(libtune.ArgumentError, "no parameter 'kind' here; it has type"):
            context.template("transpose", kind="float32")
        with self.assertRaisesRegex(libtune.ArgumentError, "needs the parameter 'columns'"):
            context.template("transpose").instantiate(rows=3)

    def test_everything_is_documented(self):
        for name in libtune.__all__:
            if name != "__version__":
                self.assertTrue(inspect.getdoc(getattr(libtune, name)), name)
        for module in (operations, databases):
            for name, value in vars(module).items():
                if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_":
                    self.assertTrue(inspect.getdoc(value), name)
                    hints = inspect.signature(value)
                    self.assertIsNot(hints.return_annotation, inspect.Signature.empty, name)


class Operations(unittest.TestCase):
    def test_parameters(self):
        found = {(row["operation"], row["parameter"]) for row in operations.parameters()}
        self.assertIn(("gemm", "alpha"), found)
        self.assertIn(("fill", "shape"), found)

    def test_transpose(self):
        for dtype in ("float32", "complex64", "uint8"):
            given = (10 * random(5, 7)).astype(dtype)
            made = operations.transpose(given, context)
            self.assertEqual(made.dtype, given.dtype)
            self.assertTrue((made == given.T).all())
        with self.assertRaisesRegex(libtune.ArgumentError, "1 axes, and 2 are needed"):
            operations.transpose(random(3), context)

    def test_fill(self):
        self.assertTrue((operations.fill(numpy.zeros((3, 5), "int16"), -7, context) == -7).all())
        self.assertTrue((operations.fill(numpy.zeros(9, "float16"), 0.5, context) == 0.5).all())
        with self.assertRaisesRegex(libtune.ElementTypeError, "300 is no value of uint8"):
            operations.fill(numpy.zeros(9, "uint8"), 300, context)
        own = libtune.DeviceArray(context, 10)
        self.assertIs(operations.fill(own, 4, context), own)
        self.assertTrue((own.get() == 4).all())

    def test_hreduce(self):
        given = random(6, 33)
        self.assertTrue(numpy.allclose(operations.hreduce(given, "sum", context), given.sum(1), atol=1e-5))
        self.assertTrue((operations.hreduce(given, "max", context) == given.max(1)).all())
        product = operations.hreduce(given, "a * b", context, identity="1.0f")
        self.assertTrue(numpy.allclose(product, given.prod(1), rtol=1e-4))
        with self.assertRaisesRegex(libtune.ArgumentError, "identity"):
            operations.hreduce(given, "a * b", context)

    def test_maskedsum(self):
        given, mask = random(6, 33, dtype="complex64"), random(6)
        made = operations.maskedsum(given, mask, context=context)
        self.assertTrue(numpy.allclose(made, (mask[:, None] * given).sum(0), atol=1e-5))

    def test_fft(self):
        given = random(4, 16, dtype="complex64")
        try:
            made = operations.fft(given, 1, context)
        except libtune.DeviceError as absent:
            self.skipTest(str(absent))
        self.assertTrue(numpy.allclose(made, numpy.fft.fft(given), atol=1e-4))
        back = operations.fft(made, 1, context, inverse=True)
        self.assertTrue(numpy.allclose(back / 16, given, atol=1e-5))
        real = random(4, 16)
        half = operations.fft(real, 1, context)
        self.assertTrue(numpy.allclose(half, numpy.fft.rfft(real), atol=1e-4))
        self.assertTrue(numpy.allclose(operations.fft(half, 1, context, real_size=16) / 16, real, atol=1e-5))

    def test_gemm(self):
        a, b, c = random(9, 17), random(17, 5), random(9, 5)
        self.assertTrue(numpy.allclose(operations.gemm(a, b, context=context), a @ b, atol=1e-4))
        made = operations.gemm(a, b, c, context, alpha=2, beta=-1)
        self.assertTrue(numpy.allclose(made, 2 * (a @ b) - c, atol=1e-4))
        with self.assertRaisesRegex(libtune.ArgumentError, "beta is not 0"):
            operations.gemm(a, b, context=context, beta=1)

    def test_an_operation_that_is_kept(self):
        operation = context.template("transpose", type="float32").instantiate(rows=3, columns=4)
        self.assertEqual(operation.slots["src"].shape, (3, 4))
        self.assertEqual(operation.slots["dest"].dtype, "float32")
        for _ in range(3):
            given = random(3, 4)
            self.assertTrue((operation(src=given).get("dest") == given.T).all())
        with self.assertRaisesRegex(libtune.ArgumentError, "no setting 'value'"):
            operation.set(value=3)


class CValue(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("count", ctypes.c_int32), ("text", ctypes.c_char_p)]


class CNamed(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", CValue)]


def store_texts(path):
    """By the C interface, which takes any bytes: a parameter b"\\xfe" or b"\\xff"; the first fails for b"\\xfd"."""
    library = ctypes.CDLL("libtune_c.so.1")
    handle = ctypes.c_void_p
    text = lambda of: CValue(5, 0, of)
    device, context, tuner, tuned = handle(), handle(), handle(), handle()

    @ctypes.CFUNCTYPE(ctypes.c_int, handle, ctypes.POINTER(CNamed), ctypes.c_size_t, ctypes.c_int,
                      ctypes.POINTER(ctypes.c_double))
    def measure(_, configuration, count, iterations, seconds):
        seconds[0] = 1.0
        if configuration[0].value.text == b"\xff":
            return 0
        library.libtune_set_last_error(b"\xfd")
        return 3

    calls = [
        (library.libtune_device_select, ctypes.byref(device)),
        (library.libtune_context_create, device, ctypes.byref(context)),
        (library.libtune_context_set_option, context, b"database", path.encode()),
        (library.libtune_tuner_create, b"texts", ctypes.byref(tuner)),
        (library.libtune_tuner_parameter, tuner, b"x", (CValue * 2)(text(b"\xfe"), text(b"\xff")), ctypes.c_size_t(2)),
        (library.libtune_tuner_measure_by, tuner, measure, None),
        (library.libtune_tuner_remember, tuner, b"texts", 0, (CNamed * 1)(CNamed(b"n", text(b"n"))), ctypes.c_size_t(1)),
        (library.libtune_tuner_tune, tuner, context, ctypes.byref(tuned)),
        (library.libtune_tuned_destroy, tuned),
        (library.libtune_tuner_destroy, tuner),
        (library.libtune_context_destroy, context),
        (library.libtune_device_destroy, device),
    ]
    for function, *arguments in calls:
        status = function(*arguments)
        assert status == 0, (function, status)


class Databases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "tuning.db")
        cls.context = libtune.Context(database=cls.path, isolation="off")
        for n in (1, 2):
            libtune.tune(
                "python.sizes",
                {"x": [1, 2, 3], "text": ["a", "b"]},
                lambda at, _, n=n: 1e-3 * (1 + abs(at["x"] - n) + (at["text"] == "b")),
                context=cls.context,
                version=4,
                key={"n": n, "layout": "rows"},
            )

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_lookups(self):
        database = libtune.Database(self.path)
        self.assertEqual(database.path, self.path)
        device = self.context.device
        found = database.find("python.sizes", {"n": 2, "layout": "rows"}, device)
        self.assertEqual(found.values, {"x": 2, "text": "a"})
        self.assertEqual((found.facts["grade"], found.facts["device_name"]), ("exact", device.name))
        self.assertAlmostEqual(found.facts["score_ns"], 1e6, delta=1)
        self.assertEqual(
            database.find("python.sizes", {"layout": "rows", "n": numpy.int32(1)}, device, version=4).values["x"], 1
        )
        self.assertIsNone(database.find("python.sizes", {"n": 3, "layout": "rows"}, device, nearest=True))
        self.assertIsNone(database.find("python.sizes", {"n": 1, "layout": "rows"}, device, version=5))
        self.assertIsNone(database.find("nobody", {}, device))
        with self.assertRaisesRegex(libtune.ArgumentError, r"has no 'layout'; the key .* n \(int64\)"):
            database.find("python.sizes", {"n": 1}, device)
        with self.assertRaisesRegex(libtune.ElementTypeError, "int64 is needed"):
            database.find("python.sizes", {"n": 1.5, "layout": "rows"}, device)

    def test_an_open_database_sees_new_versions(self):
        path = os.path.join(self.folder.name, "versions.db")
        storing = libtune.Context(database=path, isolation="off")

        def store(version, key):
            libtune.tune("versions", {"x": [version]}, lambda *_: 1.0, context=storing, version=version, key=key)

        store(1, {"n": 1})
        database = libtune.Database(path)
        os.utime(path, (1e9, 1e9))  # what was read is kept
        for _ in range(2):
            self.assertEqual(database.find("versions", {"n": 1}, storing).values, {"x": 1})
        store(2, {"n": 1, "m": 1})
        self.assertEqual(database.find("versions", {"n": 1, "m": 1}, storing).values, {"x": 2})
        self.assertEqual(database.find("versions", {"n": 1}, storing, version=1).values, {"x": 1})
        self.assertEqual(database.results("versions")["x"], [2])

    def test_texts_that_are_not_utf_8(self):
        path = os.path.join(self.folder.name, "texts.db")
        store_texts(path)
        database = libtune.Database(path)
        self.assertEqual(database.results("texts")["x"], ["\\xff"])
        trials = database.trials("texts")
        self.assertEqual(sorted(trials["x"]), ["\\xfe", "\\xff"])
        self.assertEqual(sorted(trials["message"]), ["", "\\xfd"])
        self.assertEqual(database.find("texts", {"n": "n"}, self.context).values, {"x": "\\xff"})

    def test_texts_that_c_would_cut(self):
        with self.assertRaisesRegex(ValueError, "character 0"):
            libtune.Database(os.path.join(self.folder.name, "a\0b.db"))
        with self.assertRaisesRegex(ValueError, "character 0"):
            libtune.Database(self.path).find("python.sizes", {"n": 1, "layout": "rows\0"}, self.context)

    def test_from_many_threads(self):
        database = libtune.Database(self.path)
        found = []

        def look():
            for _ in range(50):
                found.append(database.find("python.sizes", {"n": 1, "layout": "rows"}, self.context.device))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual({each.values["x"] for each in found}, {1})
        self.assertEqual(len(found), 200)

    def test_tables(self):
        results = libtune.read_database(self.path, "python.sizes", frame=False)
        self.assertEqual(results["n"], [1, 2])
        self.assertEqual(results["x"], [1, 2])
        self.assertEqual(
            list(results),
            ["n", "layout", "x", "text", "score_ns", "device_name", "device_platform", "device_version", "tuned_at"],
        )
        trials = libtune.read_database(self.path, "python.sizes", trials=True, frame=False)
        self.assertEqual(len(trials["x"]), 12)
        self.assertEqual(set(trials["outcome"]), {"measured"})
        self.assertTrue(all(len(samples) > 0 for samples in trials["samples_ns"]))
        self.assertEqual(list(libtune.read_database(self.path)), ["python.sizes"])
        with self.assertRaisesRegex(libtune.ArgumentError, "no function 'nobody'; it has python.sizes"):
            libtune.read_database(self.path, "nobody")

    def test_frames(self):
        try:
            import pandas
        except ImportError:
            with self.assertRaises(ImportError):
                libtune.read_database(self.path, "python.sizes", frame=True)
            self.assertIsInstance(libtune.read_database(self.path, "python.sizes"), dict)
            return
        frame = libtune.read_database(self.path, "python.sizes")
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(len(frame), 2)

    def test_no_database(self):
        missing = libtune.Database(os.path.join(self.folder.name, "missing.db"))
        self.assertEqual(missing.functions()["function"], [])
        self.assertIsNone(missing.find("python.sizes", {"n": 1}, self.context.device))


if __name__ == "__main__":
    unittest.main(verbosity=2)
