# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Devices, contexts and queues."""

from __future__ import annotations

import operator
from typing import Any, Dict, List, Optional, Union

from . import _libtune
from ._errors import ArgumentError, NoDeviceError
from ._pyopencl import handle_of

Value = Union[None, bool, int, float, str]


def is_index(given: Any) -> bool:
    """True for a whole number, of Python or of numpy."""
    return hasattr(type(given), "__index__") and getattr(given, "shape", ()) == ()


class Device:
    """A device that kernels can run on. Its properties are attributes: name, platform,
    driver_version, backend ("CUDA", "OpenCL"), kind ("GPU", "CPU"), architecture,
    max_work_group_size, local_memory_bytes, global_memory_bytes, compute_units, simd_group_size,
    clock_khz, pci_address, uuid."""

    def __init__(self, core: _libtune.Device) -> None:
        self._core = core
        self.info: Dict[str, Value] = core.info

    def __getattr__(self, name: str) -> Any:
        if name != "info" and name in self.info:
            return self.info[name]
        raise AttributeError(f"a device has no '{name}'")

    def __repr__(self) -> str:
        return f"<libtune.Device {self.info['name']!r} ({self.info['backend']}, {self.info['kind']})>"


def devices() -> List[Device]:
    """Returns the devices of all backends, in the order in which LIBTUNE_DEVICE counts them."""
    return [Device(core) for core in _libtune.devices()]


def select_device() -> Device:
    """Returns the best device, or the one that LIBTUNE_DEVICE, CUDA_DEVICE or PYOPENCL_CTX names."""
    return Device(_libtune.select_device())


class Queue:
    """An in-order, asynchronous queue of commands on one device. Used by one thread at a time.

    stream: a stream of PyTorch (torch.cuda.current_stream()) or CuPy, a queue of pyopencl, or the integer handle of a
    CUstream or cl_command_queue of the application, which keeps a CUstream alive. Without one a new queue is made.
    """

    def __init__(self, context: "Context", stream: Any = None) -> None:
        self.context = context
        self.is_foreign = stream is not None  # its owner orders its work, and keeps its arrays alive
        self._core = (
            _libtune.Queue(context._core)
            if stream is None
            else _libtune.Queue.wrap(context._core, handle_of(stream))
        )

    @property
    def native(self) -> int:
        """The backend's handle: a CUstream, or a cl_command_queue."""
        return self._core.native

    def finish(self) -> None:
        """Blocks until all that is enqueued has ended."""
        self._core.finish()


class Context:
    """The owner of the buffers, programs and queues of one device, with options for all that is tuned
    in it. On CUDA it is the device's primary context, which PyTorch and CuPy use too.

    device: a Device, or its index; None is select_device().
    options: see set_option: Context(mode="cached", budget="30 s").
    """

    def __init__(self, device: Union[Device, int, None] = None, **options: Optional[str]) -> None:
        if device is None:
            device = select_device()
        elif is_index(device):
            device = operator.index(device)
            all_devices = devices()
            if not 0 <= device < len(all_devices):
                raise NoDeviceError(f"there is no device {device}; there are {len(all_devices)}")
            device = all_devices[device]
        self.device: Device = device
        self._core = _libtune.Context(device._core)
        self._queue: Optional[Queue] = None
        self._templates: Dict[Any, Any] = {}
        for name, text in options.items():
            self.set_option(name, text)

    def set_option(self, name: str, text: Optional[str]) -> None:
        """Sets an option for all that is tuned here; the environment overrides it. None takes it back.
        database, mode, match, strategy, seed, budget, objective, isolation, verify, wait: texts as
        the environment variables of the same names take them."""
        self._core.set_option(name, None if text is None else str(text))

    @property
    def native(self) -> int:
        """The backend's handle: a CUcontext, or a cl_context."""
        return self._core.native

    @property
    def queue(self) -> Queue:
        """The queue that calls use which are given none."""
        if self._queue is None:
            self._queue = Queue(self)
        return self._queue

    def template(self, operation: str, /, **key: Value) -> Any:
        """Makes the template of a built-in operation by its name, or returns the one that was made for
        the same key before; see libtune.operations.Template. The first one for a key may tune."""
        from .operations import Template

        name = (operation, tuple(sorted(key.items())))
        if name not in self._templates:
            self._templates[name] = Template(self, operation, **key)
        return self._templates[name]

    def __repr__(self) -> str:
        return f"<libtune.Context on {self.device!r}>"


_default: Optional[Context] = None


def default_context() -> Context:
    """Returns the context that calls use which are given none: on select_device(), made once."""
    global _default
    if _default is None:
        _default = Context()
    return _default


def context_of(given: Union[Context, Device, int, None]) -> Context:
    """A context as functions take it: a Context, a Device, an index, or None for the default."""
    if given is None:
        return default_context()
    if isinstance(given, Context):
        return given
    if isinstance(given, Device) or is_index(given):
        return Context(given)
    raise ArgumentError(f"a context is a libtune.Context, a Device or an index, not {given!r}")


def tune_in_children() -> None:
    """From now on searches of the built-in operations run in a helper process, so that a kernel that
    crashes or hangs does no harm. Kernels of the caller are measured in this process all the same."""
    _libtune.tune_in_children()
