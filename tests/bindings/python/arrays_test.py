# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries: small stand-ins that implement DLPack and the interface of CUDA arrays, and the real
CuPy and PyTorch where they are installed."""

import ctypes
import gc
import mmap
import unittest
import weakref

import numpy

import libtune
from libtune import _arrays, _libtune

context = None


def setUpModule():
    global context
    if not libtune.devices():
        raise unittest.SkipTest("there is no device")
    context = libtune.Context(mode="default", database="")


class Counted:
    """Memory whose end is noticed."""

    alive = 0

    def __init__(self, array):
        self.array = array
        Counted.alive += 1

    def __del__(self):
        Counted.alive -= 1


class OnHost:
    """An array of the host with DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.kept = Counted(array)
        self.device = device
        self.capsules = 0

    @property
    def array(self):
        return self.kept.array

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.capsules += 1
        code, bits, _ = _arrays._ELEMENTS.get(self.array.dtype.name, (6, 8, None))
        step = self.array.itemsize
        return _libtune.export_dlpack(
            self.kept,
            self.array.ctypes.data,
            self.device[0],
            self.device[1],
            list(self.array.shape),
            [stride // step for stride in self.array.strides],
            code,
            bits,
        )


class OnDevice:
    """An array of the context's device with DLPack, in the memory of a DeviceArray."""

    def __init__(self, array, shape=None, strides=None, device=None):
        self.array = array
        self.shape = shape or array.shape
        self.strides = strides or [stride // 4 for stride in array.strides]
        self.device = device or array.__dlpack_device__()
        self.streams = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        code, bits, _ = _arrays._ELEMENTS[self.array.dtype]
        return _libtune.export_dlpack(
            self.array,
            self.array._core.native,
            self.device[0],
            self.device[1],
            list(self.shape),
            list(self.strides),
            code,
            bits,
        )


class WithInterface:
    """An array with __cuda_array_interface__ alone."""

    def __init__(self, **changes):
        self.__cuda_array_interface__ = {
            "shape": (3, 4),
            "typestr": "<f4",
            "data": (4096, False),
            "strides": None,
            "version": 3,
            **changes,
        }


def name_of(capsule):
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype = ctypes.c_char_p
    get_name.argtypes = [ctypes.py_object]
    return get_name(capsule)


def matrix(rows=3, columns=4, dtype="float32"):
    return numpy.arange(rows * columns).reshape(rows, columns).astype(dtype)


class Extents(unittest.TestCase):
    def test_c_order(self):
        self.assertEqual(_arrays.padded_extents((2, 3, 4), (12, 4, 1)), (2, 3, 4))
        self.assertEqual(_arrays.padded_extents((2, 3), None), (2, 3))
        self.assertEqual(_arrays.padded_extents((), ()), ())
        self.assertEqual(_arrays.padded_extents((0, 3), (5, 7)), (0, 3))

    def test_padded_rows(self):
        self.assertEqual(_arrays.padded_extents((2, 3), (8, 1)), (2, 8))
        self.assertEqual(_arrays.padded_extents((2, 3, 4), (40, 8, 1)), (2, 5, 8))

    def test_strides_of_one_element_do_not_count(self):
        self.assertEqual(_arrays.padded_extents((1, 4), (99, 1)), (1, 4))
        self.assertEqual(_arrays.padded_extents((4, 1), (1, 99)), (4, 1))

    def test_other_orders(self):
        for shape, strides in [((3, 4), (1, 3)), ((3, 4), (4, 2)), ((3, 4), (0, 1)), ((3, 4), (-4, 1)),
                               ((2, 3, 4), (13, 4, 1)), ((3, 4), (3, 1))]:
            with self.assertRaisesRegex(libtune.ArgumentError, "C order.*contiguous"):
                _arrays.padded_extents(shape, strides)


class Dlpack(unittest.TestCase):
    def test_a_capsule_is_renamed_and_its_memory_freed_once(self):
        before = Counted.alive
        array = OnHost(matrix())
        capsule = array.__dlpack__()
        self.assertEqual(name_of(capsule), b"dltensor")
        imported = _libtune.ImportedArray(capsule)
        self.assertEqual(name_of(capsule), b"used_dltensor")
        self.assertEqual((imported.shape, imported.strides), ((3, 4), (4, 1)))
        self.assertEqual((imported.type, imported.device), ((2, 32, 1), (1, 0)))
        with self.assertRaisesRegex(ValueError, "consumed already"):
            _libtune.ImportedArray(capsule)
        del array, capsule
        gc.collect()
        self.assertEqual(Counted.alive, before + 1)
        del imported
        gc.collect()
        self.assertEqual(Counted.alive, before)

    def test_a_capsule_that_nobody_consumes_frees_its_memory(self):
        before = Counted.alive
        capsule = OnHost(matrix()).__dlpack__()
        gc.collect()
        self.assertEqual(Counted.alive, before + 1)
        del capsule
        gc.collect()
        self.assertEqual(Counted.alive, before)

    def test_other_capsules(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        for wrong in (new(1, b"another", None), 7):
            with self.assertRaisesRegex(ValueError, "dltensor"):
                _libtune.ImportedArray(wrong)

    def test_of_the_host_is_copied(self):
        before = Counted.alive
        given = matrix()
        made = libtune.from_dlpack(OnHost(given), context)
        gc.collect()
        self.assertEqual(Counted.alive, before)
        self.assertTrue((made.get() == given).all())

    def test_padded_rows_of_the_host(self):
        wide = matrix(3, 8)
        made = libtune.from_dlpack(OnHost(wide[:, :4]), context)
        self.assertEqual(made.padded, (3, 8))
        self.assertTrue((made.get() == wide[:, :4]).all())

    def test_a_view_at_the_end_of_its_memory_is_copied(self):
        page = mmap.PAGESIZE
        memory = mmap.mmap(-1, 2 * page)
        start = numpy.frombuffer(memory, "uint8").ctypes.data
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.assertEqual(protect(start + page, page, 0), 0)  # whoever reads behind the view ends
        wide = numpy.frombuffer(memory, "float32", 4 * 64, offset=page - 4 * 4 * 64).reshape(4, 64)
        wide[:] = matrix(4, 64)
        view = wide[:, 20:40]
        made = libtune.from_dlpack(OnHost(view), context)
        self.assertTrue((made.get() == view).all())

    def test_wrong_orders_and_types(self):
        with self.assertRaisesRegex(libtune.ArgumentError, "C order"):
            libtune.from_dlpack(OnHost(matrix().T), context)
        with self.assertRaisesRegex(libtune.ElementTypeError, "type 6 with 8 bits"):
            libtune.from_dlpack(OnHost(matrix().astype(bool)), context)

    def test_of_the_device_is_used_in_place_and_kept_alive(self):
        own = libtune.DeviceArray(context, (3, 4)).set(matrix())
        gone = weakref.ref(own)
        foreign = OnDevice(own)
        made = libtune.from_dlpack(foreign, context)
        self.assertEqual(len(foreign.streams), 1)
        if context.device.backend == "CUDA":
            self.assertTrue(foreign.streams[0])
        del own, foreign
        gc.collect()
        self.assertIsNotNone(gone())
        self.assertEqual(made._core.native, gone()._core.native)
        made.set(matrix() + 1)
        self.assertTrue((gone().get() == matrix() + 1).all())
        del made
        gc.collect()
        self.assertIsNone(gone())

    def test_a_part_leaves_the_rest_of_its_array_alone(self):
        whole = libtune.DeviceArray(context, (3, 8)).set(matrix(3, 8))
        part = libtune.from_dlpack(OnDevice(whole, (3, 4), (8, 1)), context)
        self.assertTrue((part.get() == matrix(3, 8)[:, :4]).all())
        part.set(numpy.full((3, 4), -1, "float32"))
        self.assertTrue((whole.get()[:, :4] == -1).all())
        self.assertTrue((whole.get()[:, 4:] == matrix(3, 8)[:, 4:]).all())
        with self.assertRaisesRegex(libtune.ArgumentError, "'data' uses the padding.*copy it first"):
            libtune.operations.fill(part, 7)
        self.assertTrue((whole.get()[:, 4:] == matrix(3, 8)[:, 4:]).all())
        self.assertTrue((libtune.operations.transpose(part).get() == -1).all())

    def test_the_last_row_ends_with_its_elements(self):
        memory = _libtune.Buffer(context._core, 4 * (2 * 8 + 4))
        part = libtune.DeviceArray(context, (3, 4), padded=(3, 8), buffer=memory)
        self.assertTrue((part.set(matrix()).get() == matrix()).all())

    def test_another_backend(self):
        own = libtune.DeviceArray(context, (3, 4))
        other = (4, 0) if context.device.backend == "CUDA" else (2, 0)
        with self.assertRaisesRegex(libtune.ArgumentError, "lies in the memory of .*context is of"):
            libtune.from_dlpack(OnDevice(own, device=other), context)
        with self.assertRaisesRegex(libtune.ArgumentError, "kind 7"):
            libtune.from_dlpack(OnDevice(own, device=(7, 0)), context)

    def test_export(self):
        own = libtune.DeviceArray(context, (3, 4), padded=(3, 6)).set(matrix())
        self.assertTrue((own.get() == matrix()).all())
        gone = weakref.ref(own)
        imported = _libtune.ImportedArray(own.__dlpack__())
        self.assertEqual(imported.device[0], own.__dlpack_device__()[0])
        self.assertEqual((imported.shape, imported.strides), ((3, 4), (6, 1)))
        self.assertEqual(imported.address, own._core.native)
        del own
        gc.collect()
        self.assertIsNotNone(gone())
        del imported
        gc.collect()
        self.assertIsNone(gone())

    def test_operations_take_it(self):
        own = libtune.DeviceArray(context, (3, 4)).set(matrix())
        operation = context.template("transpose", type="float32").instantiate(rows=3, columns=4)
        operation.bind("src", OnDevice(own))
        operation.run()
        self.assertTrue((operation.get("dest") == matrix().T).all())
        self.assertTrue((operation.array("dest").get() == matrix().T).all())


class CudaArrayInterface(unittest.TestCase):
    def test_wrong_ones(self):
        cases = [
            ({"typestr": "<f8x"}, libtune.ElementTypeError, "'<f8x'"),
            ({"strides": (4, 12)}, libtune.ArgumentError, "C order"),
            ({"strides": (17, 4)}, libtune.ArgumentError, "no multiples of 4"),
            ({"mask": object()}, libtune.ArgumentError, "mask"),
        ]
        for changes, error, text in cases:
            with self.assertRaisesRegex(error, text):
                libtune.from_cuda_array_interface(WithInterface(**changes), context)

    def test_needs_a_context_of_cuda(self):
        if context.device.backend == "CUDA":
            self.skipTest("the context is of CUDA")
        with self.assertRaisesRegex(libtune.ArgumentError, "memory of CUDA, and the context is of OpenCL"):
            libtune.asarray(WithInterface(), context)
        with self.assertRaises(AttributeError):
            libtune.DeviceArray(context, 4).__cuda_array_interface__

    def test_in_place(self):
        if context.device.backend != "CUDA":
            self.skipTest("the context is not of CUDA")
        own = libtune.DeviceArray(context, (3, 4), padded=(3, 6)).set(matrix())
        found = own.__cuda_array_interface__
        self.assertEqual((found["shape"], found["typestr"], found["version"]), ((3, 4), "<f4", 3))
        self.assertEqual(found["strides"], (24, 4))
        made = libtune.from_cuda_array_interface(WithInterface(**{**found, "stream": 1}), context)
        self.assertTrue((made.get() == matrix()).all())


class Pyopencl(unittest.TestCase):
    def setUp(self):
        try:
            import pyopencl
            import pyopencl.array
        except ImportError:
            self.skipTest("there is no pyopencl")
        if context.device.backend != "OpenCL":
            self.skipTest("the device is not of OpenCL")
        self.cl = pyopencl
        self.queue = pyopencl.CommandQueue(pyopencl.Context.from_int_ptr(context.native))

    def test_in_place(self):
        given = self.cl.array.to_device(self.queue, numpy.arange(12, dtype="float32").reshape(3, 4))
        held = libtune.asarray(given, context)
        self.assertEqual((held.shape, held.native), ((3, 4), given.base_data.int_ptr))
        held.set(held.get() + 1)
        context.queue.finish()
        self.assertTrue((given.get() == numpy.arange(1, 13).reshape(3, 4)).all())
        result = libtune.operations.transpose(given, context)
        self.assertTrue((result.get() == given.get().T).all())

    def test_their_queue(self):
        own = libtune.Queue(context, self.queue)
        self.assertEqual(own.native, self.queue.int_ptr)

    def test_of_another_context(self):
        other = self.cl.CommandQueue(self.cl.Context(self.queue.context.devices))
        given = self.cl.array.to_device(other, numpy.zeros(4, "float32"))
        with self.assertRaisesRegex(libtune.ArgumentError, "from_int_ptr"):
            libtune.asarray(given, context)
        source = "KERNEL void add(GLOBAL float* x) { x[get_global_id(0)] += 1; }"
        made = libtune.run_kernel("add", source, 4, [given], {"block_size_x": 4}, grid_div_x=[4])
        self.assertTrue((made[0] == 1).all())

    def test_a_part(self):
        given = self.cl.array.to_device(self.queue, numpy.zeros(64, "float32"))
        with self.assertRaisesRegex(libtune.ArgumentError, "behind the start"):
            libtune.asarray(given[16:], context)


class Numpy(unittest.TestCase):
    """What libtune cannot take as it is."""

    def calls(self, given):
        kernel = libtune.Kernel("f", "", 1)
        kernel.arguments(numpy.zeros(given.shape, given.dtype.newbyteorder("=")))
        operation = context.template("transpose", type="float32").instantiate(rows=3, columns=4)
        own = libtune.DeviceArray(context, (3, 4))
        return [
            lambda: libtune.asarray(given, context),
            lambda: libtune.operations.transpose(given, context),
            lambda: libtune.operations.hreduce(given, "sum", context),
            lambda: libtune.operations.fill(given, 1, context),
            lambda: operation.bind("src", given),
            lambda: own.set(given),
            lambda: kernel.arguments(given),
            lambda: kernel.arguments(given[0, :1].reshape(())),
            lambda: kernel.answer(0, given),
            lambda: kernel.constant("c", given),
        ]

    def test_another_byte_order(self):
        for call in self.calls(matrix(dtype=">f4")):
            with self.assertRaisesRegex(libtune.ElementTypeError, r"of '>f4'.*newbyteorder"):
                call()
        with self.assertRaisesRegex(libtune.ElementTypeError, "byte order"):
            libtune.DeviceArray(context, 4, numpy.dtype(">f4"))
        self.assertEqual(libtune.asarray(matrix(dtype="<f4"), context).dtype, "float32")

    def test_masked_elements(self):
        masked = numpy.ma.masked_less(matrix(), 5)
        for call in self.calls(masked) + [lambda: libtune.from_dlpack(masked, context)]:
            with self.assertRaisesRegex(libtune.ArgumentError, "masked elements.*filled"):
                call()
        self.assertTrue((libtune.asarray(numpy.ma.array(matrix()), context).get() == matrix()).all())

    def test_numbers_as_shapes(self):
        for number in (7, numpy.int64(7), numpy.uint8(7)):
            self.assertEqual(libtune.DeviceArray(context, number).shape, (7,))
        self.assertIs(type(libtune.DeviceArray(context, [numpy.int64(7)]).shape[0]), int)
        self.assertEqual(libtune.Context(numpy.int64(0)).device.info, libtune.devices()[0].info)
        libtune.Kernel("f", "", numpy.int64(7))
        for wrong in (1.5, "7", [1.5], -1, None):
            with self.assertRaisesRegex(libtune.ArgumentError, "the shape is"):
                libtune.DeviceArray(context, wrong)

    def test_memory_has_room_for_the_shape(self):
        for padded in ((2, 2), (4, 2), (16,), (4, 4, 4)):
            with self.assertRaisesRegex(libtune.ArgumentError, r"\(4, 4\) has to fit"):
                libtune.DeviceArray(context, (4, 4), padded=padded)


class Bind(unittest.TestCase):
    def setUp(self):
        self.operation = context.template("transpose", type="float32").instantiate(rows=3, columns=4)

    def test_of_the_host(self):
        self.operation.bind("src", matrix()).run()
        self.assertTrue((self.operation.get("dest") == matrix().T).all())
        wide = matrix(3, 8)
        self.operation.bind("src", wide[:, ::2]).run()  # made contiguous by the copy
        self.assertTrue((self.operation.get("dest") == wide[:, ::2].T).all())

    def test_of_the_host_after_one_of_the_device(self):
        own = libtune.DeviceArray(context, (3, 4)).set(matrix())
        self.operation.bind("src", own).run()
        for given in (matrix() + 1, matrix() + 2):
            self.operation.bind("src", given).run()
            self.assertTrue((self.operation.get("dest") == given.T).all())
        self.assertTrue((own.get() == matrix()).all())

    def test_errors_say_what_is_needed(self):
        for array in (matrix(dtype="float64"), libtune.DeviceArray(context, (3, 4), "float64")):
            with self.assertRaisesRegex(libtune.ElementTypeError, "float64.*float32|float32.*float64"):
                self.operation.bind("src", array)
        for array in (matrix(4, 3), libtune.DeviceArray(context, (4, 3))):
            with self.assertRaisesRegex(libtune.ArgumentError, r"\(4, 3\).*\(3, 4\)|\(3, 4\).*\(4, 3\)"):
                self.operation.bind("src", array)
        with self.assertRaisesRegex(libtune.ArgumentError, "no slot 'source'; it has src, dest"):
            self.operation.bind("source", matrix())
        with self.assertRaisesRegex(libtune.ElementTypeError, "bool"):
            self.operation.bind("src", matrix().astype(bool))

    def test_padded(self):
        src = libtune.DeviceArray(context, (3, 4), padded=(3, 6)).set(matrix())
        self.operation.bind("src", src).run()
        self.assertTrue((self.operation.get("dest") == matrix().T).all())

    def test_streams_of_others(self):
        class Stream:
            cuda_stream = context.queue.native

        self.assertEqual(libtune.Queue(context, Stream()).native, context.queue.native)
        with self.assertRaisesRegex(libtune.ArgumentError, "is no stream"):
            libtune.Queue(context, "default")

    def test_another_queue(self):
        queue = libtune.Queue(context)
        operation = context.template("transpose", type="float32").instantiate(queue, rows=3, columns=4)
        own = libtune.DeviceArray(context, (3, 4)).set(matrix())
        self.assertIs(own.queue, context.queue)
        operation.bind("src", own).run()
        self.assertIs(own.queue, queue)
        made = operation.array("dest")
        self.assertIs(made.queue, queue)
        self.assertTrue((made.get() == matrix().T).all())

    def test_memory_of_others_is_given_back_when_the_work_has_ended(self):
        waits = []
        queue = libtune.Queue(context)
        self.operation = context.template("transpose", type="float32").instantiate(queue, rows=3, columns=4)
        queue.finish = lambda: waits.append(1)
        own = libtune.DeviceArray(context, (3, 4)).set(matrix())
        self.operation.bind("src", OnDevice(own)).run()
        self.assertEqual(len(waits), 0)
        self.operation.bind("src", OnDevice(own)).run()
        self.assertEqual(len(waits), 1)
        self.operation.bind("src", own).run()
        self.assertEqual(len(waits), 2)
        self.operation.bind("src", own).run()  # libtune's own memory is released in order
        self.operation = None
        self.assertEqual(len(waits), 2)

    def test_what_is_bound_is_kept(self):
        src = libtune.DeviceArray(context, (3, 4)).set(matrix())
        gone = weakref.ref(src)
        self.operation.bind("src", src)
        del src
        gc.collect()
        self.assertIsNotNone(gone())
        self.operation.run()
        self.assertTrue((self.operation.get("dest") == matrix().T).all())


class Foreign(unittest.TestCase):
    """The real ones, where they are installed and there is a CUDA device."""

    def setUp(self):
        if context.device.backend != "CUDA":
            self.skipTest("the context is not of CUDA")

    def check(self, make, back):
        given = matrix(5, 7)
        for array in (make(given), make(matrix(5, 9))[:, :7]):
            made = libtune.operations.transpose(array, context)
            self.assertIsInstance(made, libtune.DeviceArray)
            self.assertTrue((back(made) == numpy.asarray(made)).all())
        self.assertTrue((libtune.operations.transpose(make(given), context).get() == given.T).all())
        with self.assertRaisesRegex(libtune.ArgumentError, "C order"):
            libtune.operations.transpose(make(given).T, context)

    def test_cupy(self):
        try:
            import cupy
        except ImportError:
            self.skipTest("there is no CuPy")
        self.check(cupy.asarray, lambda made: cupy.asnumpy(cupy.from_dlpack(made)))
        made = libtune.DeviceArray(context, (3, 4)).set(matrix())
        self.assertTrue((cupy.asnumpy(cupy.asarray(made)) == matrix()).all())  # by the interface of CUDA

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("there is no PyTorch")
        if not torch.cuda.is_available():
            self.skipTest("PyTorch sees no device")
        self.check(lambda a: torch.tensor(a).cuda(), lambda made: torch.from_dlpack(made).cpu().numpy())
        own = torch.zeros(100, device="cuda")
        libtune.operations.fill(own, 3, context)
        context.queue.finish()
        self.assertTrue(bool((own == 3).all()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
