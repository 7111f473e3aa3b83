# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of scripts for Kernel Tuner share: a kernel, and a folder for their files."""

import os
import tempfile
import unittest

import numpy

import libtune

folder = None
before = None

SCALE = """
KERNEL void scale(GLOBAL float* to, GLOBAL const float* from, float by, int size) {
  const int i = get_global_id(0);
  if (i < size) to[i] = by * from[i] + (block_size_x == 16);
}
"""


def setUpModule():
    global folder, before
    folder = tempfile.TemporaryDirectory()
    before = os.getcwd()
    os.chdir(folder.name)
    os.environ["LIBTUNE_ISOLATION"] = "off"


def tearDownModule():
    os.chdir(before)
    folder.cleanup()


def numbers(size=100):
    return numpy.arange(size, dtype="float32")


def arguments():
    return [numpy.zeros(100, "float32"), numbers(), numpy.float32(2), numpy.int32(100)]


def tune(source=SCALE, **more):
    """Tunes the kernel that scales. A work group of 16 gives wrong results."""
    given = {"block_size_x": [16, 32, 64], **more.pop("tune_params", {})}
    return libtune.tune_kernel("scale", source, more.pop("problem_size", 100), more.pop("arguments", arguments()),
                               given, quiet=True, **more)


def sizes(results):
    return sorted(row["block_size_x"] for row in results)


class Device(unittest.TestCase):
    """Tests that run kernels."""

    @classmethod
    def setUpClass(cls):
        if not libtune.devices():
            raise unittest.SkipTest("there is no device")
