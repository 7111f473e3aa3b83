# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kernel Tuner's names: `import libtune.kernel_tuner as kernel_tuner`. docs/from-kernel-tuner.md has all options."""

from . import accuracy, file_utils, integration, observers, strategies, util
from .file_utils import store_metadata_file, store_output_file
from .integration import TuneResults, create_device_targets, store_results
from .interface import run_kernel, tune_cache, tune_kernel
from .kernelbuilder import PythonKernel
from .searchspace import Searchspace
from .t1 import tune_kernel_T1

__all__ = [
    "PythonKernel",
    "Searchspace",
    "TuneResults",
    "accuracy",
    "create_device_targets",
    "file_utils",
    "integration",
    "observers",
    "run_kernel",
    "store_metadata_file",
    "store_output_file",
    "store_results",
    "strategies",
    "tune_cache",
    "tune_kernel",
    "tune_kernel_T1",
    "util",
]
