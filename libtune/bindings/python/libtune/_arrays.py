# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays on devices, and those of NumPy, CuPy, PyTorch and others.

What has `__dlpack__` or `__cuda_array_interface__` and lies on the device is used where it is; all else is
copied.
"""

from __future__ import annotations

import operator
from typing import Any, Optional, Sequence, Tuple, Union

from . import _libtune
from ._device import Context, Queue, devices, is_index
from ._elements import _CODES, _ELEMENTS, _TYPESTRS, element_bytes, element_name, numpy, require_native
from ._errors import ArgumentError, ElementTypeError
from ._pyopencl import from_pyopencl, is_pyopencl

_CPU, _CUDA, _CUDA_HOST, _OPENCL, _CUDA_MANAGED = 1, 2, 3, 4, 13
_BACKENDS = {_CUDA: "CUDA", _CUDA_MANAGED: "CUDA", _OPENCL: "OpenCL"}
_MEMORIES = {
    _CPU: "the host",
    _CUDA: "CUDA",
    _CUDA_HOST: "the host, pinned by CUDA",
    _OPENCL: "OpenCL",
    _CUDA_MANAGED: "CUDA, managed",
}


def product(extents: Sequence[int]) -> int:
    """The product of all extents; 1 of none."""
    result = 1
    for extent in extents:
        result *= extent
    return result


def strides_of(padded: Sequence[int]) -> Tuple[int, ...]:
    """The strides, counted in elements, of an array of these extents in C order."""
    strides = []
    step = 1
    for extent in reversed(padded):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def extents_of(shape: Any, what: str = "the shape") -> Tuple[int, ...]:
    """A shape as a tuple: of a number, or of several."""
    try:
        extents = tuple(operator.index(each) for each in ((shape,) if is_index(shape) else shape))
    except TypeError:
        raise ArgumentError(f"{what} is {shape!r}, and numbers are needed") from None
    if any(extent < 0 for extent in extents):
        raise ArgumentError(f"{what} is {extents}, and no extent is negative")
    return extents


def padded_extents(shape: Sequence[int], strides: Optional[Sequence[int]]) -> Tuple[int, ...]:
    """The extents in memory of an array in C order whose rows may be padded.

    strides: counted in elements; None: no padding.
    Raises ArgumentError for any other order.
    """
    shape = tuple(shape)
    if strides is None or 0 in shape or not shape:
        return shape
    padded = list(shape)
    step, extent = 1, 1  # of the next faster axis
    for axis in range(len(shape) - 1, -1, -1):
        is_last = axis == len(shape) - 1
        own = strides[axis] if shape[axis] != 1 else step * extent
        if (is_last and own != 1) or own < step * extent or own % step != 0:
            raise ArgumentError(
                f"the array {shape} has the strides {tuple(strides)}, counted in elements: libtune "
                "takes arrays in C order whose last axis is contiguous. Copy it first "
                "(numpy.ascontiguousarray, cupy.ascontiguousarray, Tensor.contiguous)"
            )
        if not is_last:
            padded[axis + 1] = own // step
        step, extent = own, shape[axis]
    return tuple(padded)


class DeviceArray:
    """An array in device memory, in C order; rows may be padded. It gives itself to other libraries by
    `__dlpack__` and, on CUDA, `__cuda_array_interface__`: torch.from_dlpack(array), cupy.asarray(array).

    shape, dtype: "float32" and so on; contents are unknown until set. It is read and written on the queue of
    the operation that it was bound to last, else on that of the context.
    """

    def __init__(
        self,
        context: Context,
        shape: Union[int, Sequence[int]],
        dtype: Any = "float32",
        *,
        padded: Optional[Sequence[int]] = None,
        buffer: Optional[_libtune.Buffer] = None,
        owner: Any = None,
    ) -> None:
        self.context = context
        self.shape: Tuple[int, ...] = extents_of(shape)
        self.dtype: str = element_name(dtype)
        self.padded: Tuple[int, ...] = self.shape if padded is None else extents_of(padded, "padded")
        if len(self.padded) != len(self.shape) or any(p < s for p, s in zip(self.padded, self.shape)):
            raise ArgumentError(f"padded is {self.padded}, and the shape {self.shape} has to fit into it")
        if buffer is None:
            buffer = _libtune.Buffer(context._core, max(1, self.nbytes))
        self._core = buffer
        self._owner = owner  # the library that owns the memory, if it is another one
        self._queue: Optional[Queue] = None  # the queue of the latest operation that it was bound to
        self._operation: Any = None  # the operation that makes it, unless another object keeps that

    @property
    def native(self) -> int:
        """The backend's handle of its memory: a CUdeviceptr, or a cl_mem."""
        return self._core.native

    @property
    def queue(self) -> Queue:
        """The queue on which it is read and written."""
        return self._queue or self.context.queue

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements, without padding."""
        return product(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes in memory, padding included."""
        return product(self.padded) * element_bytes(self.dtype)

    @property
    def _span(self) -> int:
        """The bytes from the first element to the end of the last one. What lies behind may be another's."""
        last = sum((extent - 1) * step for extent, step in zip(self.shape, strides_of(self.padded)))
        return (last + 1) * element_bytes(self.dtype) if self.size else 0

    def _read(self, queue: Optional[Queue]) -> Any:
        """What lies in memory, padding included."""
        host = numpy().empty(self.padded, self.dtype)
        if self._span:
            (queue or self.queue)._core.read(self._core, 0, _bytes_of(host)[: self._span])
        return host

    @property
    def strides(self) -> Tuple[int, ...]:
        """The bytes from one element to the next along each axis."""
        step = element_bytes(self.dtype)
        return tuple(step * each for each in strides_of(self.padded))

    def get(self, queue: Optional[Queue] = None) -> Any:
        """Returns a copy as a numpy array. Waits for the queue."""
        inside = self._read(queue)[tuple(slice(extent) for extent in self.shape)]
        return numpy().ascontiguousarray(inside) if self.shape else inside

    def set(self, values: Any, queue: Optional[Queue] = None) -> "DeviceArray":
        """Copies the elements of a numpy array, or of what becomes one, of this very shape and dtype. Padding, which
        may be part of another array, stays as it is."""
        given = host_array(values, self.dtype, self.shape, "the array")
        if self.padded != self.shape:
            host = self._read(queue)
            host[tuple(slice(extent) for extent in self.shape)] = given
            given = host
        if self._span:
            (queue or self.queue)._core.write(self._core, 0, _bytes_of(given)[: self._span])
        return self

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        made = self.get()
        return made if dtype is None else made.astype(dtype)

    def __repr__(self) -> str:
        return f"<libtune.DeviceArray {self.shape} of {self.dtype} on {self.context.device.name!r}>"

    @property
    def __cuda_array_interface__(self) -> dict:
        if self.context.device.backend != "CUDA":
            raise AttributeError("only arrays on CUDA devices have __cuda_array_interface__")
        text = _ELEMENTS[self.dtype][2]
        if text is None:
            raise AttributeError(f"__cuda_array_interface__ has no type for {self.dtype}")
        self.queue.finish()
        return {
            "shape": self.shape,
            "typestr": text,
            "data": (self._core.native, False),
            "strides": None if self.padded == self.shape else self.strides,
            "stream": None,  # all work has ended
            "version": 3,
        }

    def __dlpack_device__(self) -> Tuple[int, int]:
        own = self.context.device
        alike = [each for each in devices() if each.backend == own.backend]
        index = next((i for i, each in enumerate(alike) if each.info == own.info), 0)
        return (_CUDA if own.backend == "CUDA" else _OPENCL), index

    def __dlpack__(self, stream: Any = None, **_: Any) -> Any:
        self.queue.finish()
        code, bits, _text = _ELEMENTS[self.dtype]
        kind, index = self.__dlpack_device__()
        return _libtune.export_dlpack(
            self, self._core.native, kind, index, self.shape, strides_of(self.padded), code, bits
        )


def _bytes_of(host: Any) -> Any:
    """A contiguous numpy array as bytes, whatever its dtype."""
    return host.reshape(-1).view("uint8")


def host_array(values: Any, dtype: Optional[str], shape: Optional[Sequence[int]], what: str) -> Any:
    """A contiguous numpy array of this very dtype and shape, where they are given."""
    given = numpy().asanyarray(values)
    require_native(given, what)
    given = numpy().asarray(given)
    name = given.dtype.name
    if name not in _ELEMENTS:
        raise ElementTypeError(f"{what} is of {name}, and libtune has {', '.join(_ELEMENTS)}")
    if dtype is not None and name != dtype:
        raise ElementTypeError(f"{what} is of {name}, and {dtype} is needed: use astype")
    if shape is not None and tuple(given.shape) != tuple(shape):
        raise ArgumentError(f"{what} has the shape {given.shape}, and {tuple(shape)} is needed")
    return numpy().ascontiguousarray(given).reshape(given.shape)


def _wrap(
    context: Context,
    address: int,
    shape: Sequence[int],
    strides: Optional[Sequence[int]],
    name: str,
    owner: Any,
) -> DeviceArray:
    padded = padded_extents(shape, strides)
    count = product(padded) * element_bytes(name)
    if count == 0:
        return DeviceArray(context, shape, name, padded=padded)
    buffer = _libtune.Buffer.wrap(context._core, address, count)
    return DeviceArray(context, shape, name, padded=padded, buffer=buffer, owner=owner)


def from_dlpack(array: Any, context: Context) -> DeviceArray:
    """An array of another library by DLPack: in its memory, if that is the context's device, else a copy
    of one on the host.

    Raises ArgumentError if it lies on a device of another backend, or is not in C order, and
    ElementTypeError for other element types.
    """
    if hasattr(array, "mask"):  # numpy's mask, which DLPack lacks
        require_native(array, "the array")
    kind = int(array.__dlpack_device__()[0])
    backend = _BACKENDS.get(kind)
    own = context.device.backend
    if backend is not None and backend != own:
        raise ArgumentError(
            f"the array lies in the memory of {backend}, and the context is of {own} "
            f"({context.device.name}): use a context of its device, or copy it to the host"
        )
    if backend is None and kind not in (_CPU, _CUDA_HOST):
        raise ArgumentError(f"the array lies on a device of DLPack's kind {kind}, which libtune cannot use")
    capsule = array.__dlpack__(stream=_stream_of(context)) if backend == "CUDA" else array.__dlpack__()
    imported = _libtune.ImportedArray(capsule)
    code, bits, lanes = imported.type
    name = _CODES.get((code, bits))
    if name is None or lanes != 1:
        raise ElementTypeError(
            f"the array has elements of DLPack's type {code} with {bits} bits and {lanes} lanes, "
            f"and libtune has {', '.join(_ELEMENTS)}"
        )
    if backend is None:
        made = DeviceArray(context, imported.shape, name, padded=padded_extents(imported.shape, imported.strides))
        if made._span:
            context.queue._core.write_address(
                made._core, 0, imported.address + imported.byte_offset, made._span
            )
        return made
    if backend == "OpenCL" and imported.byte_offset:
        raise ArgumentError(
            f"the array begins {imported.byte_offset} bytes behind the start of its cl_mem; copy it first"
        )
    address = imported.address + (imported.byte_offset if backend == "CUDA" else 0)
    return _wrap(context, address, imported.shape, imported.strides, name, imported)


def _stream_of(context: Context) -> int:
    """The stream that the array has to be ready for, as DLPack counts them: 1 is the default one."""
    return context.queue.native or 1


def from_cuda_array_interface(array: Any, context: Context) -> DeviceArray:
    """An array of another library by `__cuda_array_interface__`, in its memory. Waits for the stream that
    it names. Raises as from_dlpack."""
    found = array.__cuda_array_interface__
    name = _TYPESTRS.get(found["typestr"])
    if name is None:
        raise ElementTypeError(
            f"the array has elements of the type '{found['typestr']}', and libtune has "
            f"{', '.join(text for text in _TYPESTRS)}"
        )
    if found.get("mask") is not None:
        raise ArgumentError("the array has a mask, which libtune does not know")
    shape = tuple(int(extent) for extent in found["shape"])
    strides = found.get("strides")
    if strides is not None:
        step = element_bytes(name)
        if any(each % step for each in strides):
            raise ArgumentError(f"the strides {tuple(strides)} are no multiples of {step} bytes")
        strides = tuple(each // step for each in strides)
    padded_extents(shape, strides)  # called first for its error
    if context.device.backend != "CUDA":
        raise ArgumentError(
            f"the array lies in the memory of CUDA, and the context is of {context.device.backend} "
            f"({context.device.name}): use a context of its device, or copy it to the host"
        )
    stream = found.get("stream")
    if stream is not None:
        Queue(context, 0 if stream == 1 else int(stream)).finish()
    return _wrap(context, int(found["data"][0]), shape, strides, name, array)


def is_on_device(array: Any) -> bool:
    """True if an array lies in the memory of a device."""
    if isinstance(array, DeviceArray):
        return True
    if hasattr(type(array), "__dlpack_device__"):
        return int(array.__dlpack_device__()[0]) not in (_CPU, _CUDA_HOST)
    return hasattr(array, "__cuda_array_interface__") or is_pyopencl(array)


def asarray(array: Any, context: Optional[Context] = None) -> DeviceArray:
    """Any array as one on the device: of CuPy, PyTorch, pyopencl and others in the memory where it is, of NumPy and
    other hosts' a copy."""
    from ._device import default_context

    if isinstance(array, DeviceArray):
        return array
    context = default_context() if context is None else context
    if is_on_device(array):
        if is_pyopencl(array):
            return from_pyopencl(array, context)
        if hasattr(type(array), "__dlpack__"):
            return from_dlpack(array, context)
        return from_cuda_array_interface(array, context)
    given = host_array(array, None, None, "the array")
    return DeviceArray(context, given.shape, given.dtype.name).set(given)
