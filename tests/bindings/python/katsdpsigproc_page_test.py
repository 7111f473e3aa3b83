# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The operation of docs/from-katsdpsigproc.md runs with katsdpsigproc as the page shows it, and its results are those of
the same kernel with libtune. Skipped without katsdpsigproc and pyopencl."""

import os
import pathlib
import re
import tempfile
import unittest

import numpy

import libtune

try:
    import pyopencl
    from katsdpsigproc import accel, tune
    from pyopencl.tools import dtype_to_ctype
except ImportError:
    accel = None

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/from-katsdpsigproc.md"
MAKO = """
<%include file="/port.mako"/>
KERNEL REQD_WORK_GROUP_SIZE(${wgs}, 1, 1) void multiply(GLOBAL ${type} *data, ${type} scale) {
    data[get_global_id(0)] *= scale;
}
"""
KERNEL = "KERNEL void multiply(GLOBAL float* data, float scale) { data[get_global_id(0)] *= scale; }"


@unittest.skipIf(accel is None, "there is no katsdpsigproc with pyopencl")
class Page(unittest.TestCase):
    def setUp(self):
        if all(device.backend != "OpenCL" for device in libtune.devices()):
            self.skipTest("there is no device of OpenCL")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.environ["KATSDPSIGPROC_TUNE_DB"] = os.path.join(self.folder.name, "tuning.db")
        (pathlib.Path(self.folder.name) / "multiply.mako").write_text(MAKO)

    def names_of_page(self):
        def build(context, name, values):
            return accel.build(context, name, values, extra_dirs=[self.folder.name])

        block = re.search("```python\n(.*?)```", PAGE.read_text(), re.S).group(1).replace("1 << 24", "1 << 12")
        names = {"accel": accel, "tune": tune, "np": numpy, "build": build, "dtype_to_ctype": dtype_to_ctype}
        exec(compile(block, str(PAGE), "exec"), names)
        return names

    def test_the_operation(self):
        context = accel.create_some_context(interactive=False)
        queue = context.create_command_queue()
        operation = self.names_of_page()["MultiplyTemplate"](context, numpy.float32).instantiate(queue, 1000)
        operation.ensure_all_bound()
        data = operation.buffer("data")
        given = data.empty_like()
        given[:] = numpy.arange(1000, dtype=numpy.float32)
        data.set(queue, given)
        operation()
        queue.finish()
        found = data.buffer.get(pyopencl.CommandQueue(data.buffer.context))[:1000]  # by any version of pyopencl
        own = libtune.run_kernel("multiply", KERNEL, 1000, [numpy.array(given), numpy.float32(2)], {"block_size_x": 8})
        self.assertTrue((found == own[0]).all())


if __name__ == "__main__":
    unittest.main(verbosity=2)
