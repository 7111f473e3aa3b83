# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of pyopencl, and streams of other libraries as the integers that libtune takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._elements import element_bytes, element_name, require_native
from ._errors import ArgumentError

if TYPE_CHECKING:
    from ._arrays import DeviceArray
    from ._device import Context


def is_pyopencl(array: Any) -> bool:
    """True for a pyopencl.array.Array."""
    return type(array).__module__.split(".")[0] == "pyopencl" and hasattr(array, "base_data")


def is_of_context(array: Any, context: "Context") -> bool:
    """True for an array of pyopencl in the cl_context of a context."""
    if context.device.backend != "OpenCL" or not is_pyopencl(array) or array.base_data is None:
        return False
    return int(array.base_data.context.int_ptr) == context.native


def from_pyopencl(array: Any, context: "Context") -> "DeviceArray":
    """An array of pyopencl in its memory. Waits for the queue that it was made on.

    Raises ArgumentError unless it lies in the context's cl_context, which
    pyopencl.Context.from_int_ptr(context.native) is, from the beginning of its cl_mem, in C order.
    """
    from ._arrays import _wrap

    require_native(array, "the array")
    if not is_of_context(array, context):
        raise ArgumentError(
            "the array of pyopencl lies in another cl_context than that of libtune's context: make it in "
            "pyopencl.Context.from_int_ptr(context.native), or copy it to the host (get)"
        )
    if array.offset:
        raise ArgumentError(f"the array begins {array.offset} bytes behind the start of its cl_mem; copy it first")
    if array.queue is not None:
        array.queue.finish()
    name = element_name(array.dtype)
    strides = [step // element_bytes(name) for step in array.strides]
    return _wrap(context, int(array.base_data.int_ptr), array.shape, strides, name, array)


def handle_of(stream: Any) -> int:
    """The integer handle of a stream or queue: of CuPy, PyTorch, pyopencl, or the integer itself."""
    for name in ("cuda_stream", "ptr", "int_ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if not hasattr(type(stream), "__index__"):
        raise ArgumentError(f"{stream!r} is no stream: give one of CuPy, PyTorch or pyopencl, or its integer handle")
    return int(stream)
