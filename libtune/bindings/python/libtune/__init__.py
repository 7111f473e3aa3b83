# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""libtune: tuning of CUDA and OpenCL kernels on the device at hand, and operations that are tuned so.

    import libtune

    results, environment = libtune.tune_kernel(name, source, size, arguments, parameters)  # as in Kernel Tuner
    best = libtune.Kernel(name, source, size).parameter(...).arguments(...).tune()         # libtune's own way
    transposed = libtune.operations.transpose(tensor)        # arrays of NumPy, CuPy, PyTorch
    tables = libtune.read_database("tuning.db")              # DataFrames, if pandas is installed

docs/python.md is the guide. Errors are subclasses of libtune.Error, with the text of the C++ library. Searches and copies
run without the interpreter's lock.
"""

from typing import TYPE_CHECKING, Any

from . import operations, telescope
from ._arrays import (
    DeviceArray,
    asarray,
    from_cuda_array_interface,
    from_dlpack,
)
from ._device import (
    Context,
    Device,
    Queue,
    default_context,
    devices,
    select_device,
    tune_in_children,
)
from ._errors import (
    ArgumentError,
    BuildError,
    DatabaseError,
    DeviceError,
    ElementTypeError,
    EnvironmentVariableError,
    Error,
    NoDeviceError,
    NotTunedError,
    OutOfMemoryError,
    SkipConfiguration,
    StoppedError,
    TuningFailedError,
)
from ._libtune import __version__
from ._tuning import Argument, Kernel, KernelTuner, Tuned, in_, inout, kernel, out, tune
from .captures import Capture
from .databases import Database, Result, read_database
from .metrics import FrameClock, Metrics
from .sequences import OperationSequence

if TYPE_CHECKING:
    from . import kernel_tuner
    from .kernel_tuner import create_device_targets, run_kernel, store_results, tune_cache, tune_kernel, tune_kernel_T1

# Kernel Tuner's names, imported when they are used: they need numpy.
_OF_KERNEL_TUNER = (
    "create_device_targets", "run_kernel", "store_results", "tune_cache", "tune_kernel", "tune_kernel_T1",
)


def __getattr__(name: str) -> Any:
    import importlib

    if name != "kernel_tuner" and name not in _OF_KERNEL_TUNER:
        raise AttributeError(f"libtune has no '{name}'")
    try:
        module = importlib.import_module(".kernel_tuner", __name__)
    except ModuleNotFoundError as missing:
        if missing.name != "numpy":
            raise
        raise ImportError(f"libtune.{name} needs numpy: install numpy") from missing
    return module if name == "kernel_tuner" else getattr(module, name)


__all__ = [
    "Argument",
    "ArgumentError",
    "BuildError",
    "Capture",
    "Context",
    "Database",
    "DatabaseError",
    "Device",
    "DeviceArray",
    "DeviceError",
    "ElementTypeError",
    "EnvironmentVariableError",
    "Error",
    "FrameClock",
    "Kernel",
    "KernelTuner",
    "Metrics",
    "NoDeviceError",
    "NotTunedError",
    "OperationSequence",
    "OutOfMemoryError",
    "Queue",
    "Result",
    "SkipConfiguration",
    "StoppedError",
    "Tuned",
    "TuningFailedError",
    "__version__",
    "asarray",
    "create_device_targets",
    "default_context",
    "devices",
    "from_cuda_array_interface",
    "from_dlpack",
    "in_",
    "inout",
    "kernel",
    "kernel_tuner",
    "operations",
    "out",
    "read_database",
    "run_kernel",
    "select_device",
    "store_results",
    "telescope",
    "tune",
    "tune_cache",
    "tune_in_children",
    "tune_kernel",
    "tune_kernel_T1",
]
