# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The built-in operations, on arrays of NumPy, CuPy, PyTorch and libtune.

The functions here make a template for each key once (it is tuned if the database has no result), an operation
for the sizes of each call, and give back what they were given: numpy arrays for arrays of the host, which
are copied, and DeviceArrays for arrays on the device, which are used in place. Where speed counts, keep
the operation:

    template = context.template("transpose", type="float32")
    operation = template.instantiate(rows=512, columns=256)
    operation.bind("src", tensor)
    operation.run()
    transposed = operation.array("dest")
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import _libtune
from ._arrays import (
    DeviceArray,
    asarray,
    element_name,
    host_array,
    is_on_device,
    numpy,
    require_native,
)
from ._device import Context, Queue, Value, context_of
from ._errors import ArgumentError, ElementTypeError


def parameters() -> List[Dict[str, Value]]:
    """Lists the parameters of all operations: operation, stage ("key", "size", "setting"), parameter,
    default_value (None: it has to be given) and meaning."""
    columns = _libtune.operations()
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


class Slot:
    """A place of an operation for an array: name, dtype, shape, and padded, the extents in memory."""

    def __init__(self, info: Dict[str, Any]) -> None:
        self.name: str = info["name"]
        self.dtype: str = info["type"]
        self.shape: Tuple[int, ...] = info["shape"]
        self.padded: Tuple[int, ...] = info["padded"]
        self.nbytes: int = info["bytes"]
        self.is_bound: bool = info["bound"]

    def __repr__(self) -> str:
        return f"<libtune.Slot {self.name} {self.shape} of {self.dtype}>"


class Operation:
    """A kernel, or several, for given sizes and a queue, with named slots for its arrays. Used by one
    thread at a time. It keeps what is bound.

    run() enqueues it and returns without waiting; what has no array is allocated.
    """

    def __init__(self, core: _libtune.Operation, queue: Queue, fills: bool = False) -> None:
        self._core = core
        self._bound: Dict[str, DeviceArray] = {}
        self._padded = {info["name"]: info["padded"] for info in core.slots()}  # required by the slots
        self._fills = fills  # including the padding
        self.queue = queue
        self.run: Callable[[], None] = core.run

    @property
    def slots(self) -> Dict[str, Slot]:
        """The slots by their names."""
        return {info["name"]: Slot(info) for info in self._core.slots()}

    def _slot(self, name: str) -> Slot:
        slots = self.slots
        if name not in slots:
            raise ArgumentError(f"the operation has no slot '{name}'; it has {', '.join(slots)}")
        return slots[name]

    def bind(self, slot: str, array: Any) -> "Operation":
        """Binds an array to a slot: one on the device in its memory, one of the host as a copy in memory of the
        operation's own.

        Raises ElementTypeError for another dtype, and ArgumentError for another shape, another order than C, or
        padding that the slot does not take.
        """
        wanted = self._slot(slot)
        if not is_on_device(array):
            given = host_array(array, wanted.dtype, wanted.shape, f"the array for the slot '{slot}'")
            if slot in self._bound:  # memory bound by the caller is not changed
                own = DeviceArray(self.queue.context, wanted.shape, wanted.dtype, padded=self._padded[slot])
                self._core.bind(slot, own._core, list(own.padded))
                self._wait_for_foreign(slot)
                del self._bound[slot]
            self._core.write(slot, given.reshape(-1).view("uint8"))
            return self
        given = asarray(array, self.queue.context)
        if given.dtype != wanted.dtype:
            raise ElementTypeError(
                f"the slot '{slot}' is of {wanted.dtype}, and the array of {given.dtype}"
            )
        if given.shape != wanted.shape:
            raise ArgumentError(
                f"the slot '{slot}' has the shape {wanted.shape}, and the array {given.shape}"
            )
        self._require_padding(slot, given)
        self._core.bind(slot, given._core, list(given.padded))
        given._queue = self.queue
        self._wait_for_foreign(slot)
        self._bound[slot] = given
        return self

    def _require_padding(self, slot: str, array: DeviceArray) -> None:
        """Rows of a part of another library's array have others' elements behind them, and the last one perhaps
        nothing."""
        if array._owner is None or array.padded == array.shape:
            return
        if self._fills or self._padded[slot] != array.shape:
            raise ArgumentError(
                f"the slot '{slot}' uses the padding of its rows, and that of the array, whose shape is "
                f"{array.shape} with the extents {array.padded} in memory, belongs to another array: copy it first"
            )

    def _wait_for_foreign(self, *slots: str) -> None:
        """Memory of other libraries is given back when the work that uses it has ended. On a stream of theirs they
        order that themselves."""
        foreign = any(self._bound[slot]._owner is not None for slot in slots if slot in self._bound)
        if foreign and not self.queue.is_foreign:
            self.queue.finish()

    def __del__(self) -> None:
        try:
            self._wait_for_foreign(*self._bound)
        except Exception:  # the interpreter ends, or the device is lost
            pass

    def array(self, slot: str) -> DeviceArray:
        """The array of a slot, on the device; it is allocated if nothing is bound."""
        if slot in self._bound:
            return self._bound[slot]
        if not self._slot(slot).is_bound:
            self._core.ensure_bound()
        info = self._slot(slot)
        made = DeviceArray(
            self.queue.context,
            info.shape,
            info.dtype,
            padded=info.padded,
            buffer=self._core.buffer(slot),
        )
        made._queue = self.queue
        return made

    def get(self, slot: str) -> Any:
        """A copy of the array of a slot as a numpy array. Waits for the queue."""
        info = self._slot(slot)
        host = numpy().empty(info.shape, info.dtype)
        self._core.read(slot, host.reshape(-1).view("uint8"))
        return host

    def set(self, **settings: Value) -> "Operation":
        """Changes settings, in this order: those of parameters() with the stage "setting", such as alpha of gemm. A
        sequence has those of its operations, as "operation:setting". correlate's zero=True enqueues setting its
        accumulators to 0."""
        for name, value in settings.items():
            self._core.set(name, value)
        return self

    def set_argument(self, argument: int, value: Any) -> "Operation":
        """Replaces a value among the arguments of a tuned kernel by one of the same dtype."""
        self._core.set_argument(argument, scalar_bytes(value))
        return self

    def __call__(self, **arrays: Any) -> "Operation":
        """Binds arrays to slots, and runs."""
        for name, array in arrays.items():
            self.bind(name, array)
        self.run()
        return self


class Template:
    """A built-in operation, compiled and tuned for a key. Thread-safe. See libtune.operations.parameters()
    for the names of keys and sizes."""

    def __init__(self, context: Context, operation: str, /, **key: Value) -> None:
        self.context = context
        self.operation = operation
        self._core = _libtune.Template(context._core, operation, key)

    @property
    def tuning(self) -> Dict[str, Value]:
        """The values that it was tuned to."""
        return self._core.tuning

    def instantiate(self, queue: Optional[Queue] = None, **sizes: Value) -> Operation:
        """Makes an operation for given sizes."""
        queue = queue or self.context.queue
        return Operation(self._core.instantiate(queue._core, sizes), queue, self.operation == "fill")


def scalar_bytes(value: Any) -> bytes:
    """The bytes of a number of numpy. A number of Python has no type that a kernel could know."""
    if isinstance(value, (bool, int, float, complex)) and not hasattr(value, "dtype"):
        raise ElementTypeError(
            f"{value!r} is a number of Python, whose size in a kernel is not known: pass "
            "numpy.int32(...), numpy.float32(...) or another type of numpy"
        )
    if not hasattr(value, "dtype"):
        return bytes(value)
    given = numpy().asanyarray(value)
    require_native(given, "a value")
    return given.tobytes()


def _shape_of(array: Any, axes: int, what: str) -> Tuple[int, ...]:
    shape = tuple(int(extent) for extent in array.shape)
    if len(shape) != axes:
        raise ArgumentError(f"{what} has {len(shape)} axes, and {axes} are needed: {shape}")
    return shape


def _run(
    context: Context,
    template: Template,
    sizes: Dict[str, Value],
    arrays: Dict[str, Any],
    output: str,
    settings: Optional[Dict[str, Value]] = None,
) -> Any:
    operation = template.instantiate(None, **sizes)
    for name, array in arrays.items():
        operation.bind(name, array)
    operation.set(**(settings or {}))
    operation.run()
    if any(is_on_device(array) for array in arrays.values()):
        made = operation.array(output)
        if output not in operation._bound:
            made._operation = operation  # keeps its inputs alive
        return made
    return operation.get(output)


def _prepared(array: Any, context: Union[Context, Any, None]) -> Tuple[Any, Context]:
    if isinstance(array, DeviceArray):
        return array, array.context
    context = context_of(context)
    return (array if is_on_device(array) else host_array(array, None, None, "the array")), context


def fill(array: Any, value: Union[int, float] = 0, context: Any = None) -> Any:
    """Sets every element of an array to a value: in place on the device; of the host, a new array."""
    array, context = _prepared(array, context)
    template = context.template("fill", type=element_name(array.dtype))
    sizes: Dict[str, Value] = {"shape": "x".join(str(extent) for extent in array.shape)}
    return _run(context, template, sizes, {"data": array}, "data", {"value": value})


def transpose(array: Any, context: Any = None) -> Any:
    """Returns the transpose of an array of two axes."""
    array, context = _prepared(array, context)
    rows, columns = _shape_of(array, 2, "the array")
    template = context.template("transpose", type=element_name(array.dtype))
    return _run(context, template, {"rows": rows, "columns": columns}, {"src": array}, "dest")


def hreduce(
    array: Any,
    operation: str = "sum",
    context: Any = None,
    *,
    identity: str = "",
    definitions: str = "",
) -> Any:
    """Reduces each row to one element: operation is "sum", "min", "max", or an expression of a and b with
    its identity."""
    array, context = _prepared(array, context)
    rows, columns = _shape_of(array, 2, "the array")
    template = context.template(
        "hreduce",
        type=element_name(array.dtype),
        operation=operation,
        identity=identity,
        definitions=definitions,
        columns=columns,
    )
    return _run(context, template, {"rows": rows, "columns": columns}, {"src": array}, "dest")


def maskedsum(array: Any, mask: Any, use_amplitudes: bool = False, context: Any = None) -> Any:
    """Adds up the rows of complex64, each with a weight of float32: of x, or of |x|."""
    array, context = _prepared(array, context)
    rows, columns = _shape_of(array, 2, "the array")
    template = context.template("maskedsum", use_amplitudes=use_amplitudes, columns=columns)
    return _run(
        context, template, {"rows": rows, "columns": columns}, {"src": array, "mask": mask}, "dest"
    )


def percentile5(array: Any, context: Any = None) -> Any:
    """Five order statistics of each row of float32, or of the absolute values of complex64, as five rows: the least, the
    largest, and those at 25, 75 and 50 %. Nothing is interpolated, and NaNs do not count."""
    array, context = _prepared(array, context)
    rows, columns = _shape_of(array, 2, "the array")
    is_amplitude = element_name(array.dtype) == "float32"
    template = context.template("percentile5", max_columns=max(columns, 1), is_amplitude=is_amplitude)
    return _run(context, template, {"rows": rows, "columns": columns}, {"src": array}, "dest")


_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_REAL = {"complex64": "float32", "complex128": "float64"}


def fft(
    array: Any,
    axes: int = 1,
    context: Any = None,
    *,
    inverse: bool = False,
    real_size: Optional[int] = None,
) -> Any:
    """Transforms the last axes, unnormalised. Real arrays give half a spectrum, as numpy.fft.rfft.

    inverse: the other sign of the exponent, not divided by the number of elements.
    real_size: of the last axis of a real result, as n of numpy.fft.irfft.
    """
    array, context = _prepared(array, context)
    src = element_name(array.dtype)
    shape = tuple(int(extent) for extent in array.shape)
    dest = src
    if src in _COMPLEX:
        dest = _COMPLEX[src]
    elif real_size is not None:
        if src not in _REAL:
            raise ElementTypeError(f"a transform of {src} to real numbers does not exist")
        dest = _REAL[src]
        shape = shape[:-1] + (real_size,)
    direction = "" if src != dest else ("inverse" if inverse else "forward")
    template = context.template(
        "fft",
        size="x".join(str(extent) for extent in shape),
        axes=axes,
        src=src,
        dest=dest,
        direction=direction,
    )
    return _run(context, template, {}, {"src": array}, "dest")


def gemm(
    a: Any,
    b: Any,
    c: Any = None,
    context: Any = None,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    output: Optional[str] = None,
    sizes: Optional[Sequence[str]] = None,
) -> Any:
    """Returns alpha a b + beta c: products of matrices of float32 or float16.

    c: added to, and overwritten if it lies on the device; needed unless beta is 0.
    output: the dtype of the result, that of a by default.
    sizes: the ranges of m, n and k that are tuned for, such as ("16..4096",) * 3.
    """
    if beta != 0 and c is None:
        raise ArgumentError("beta is not 0, and there is no c to be added")
    a, context = _prepared(a, context)
    m, k = _shape_of(a, 2, "a")
    _, n = _shape_of(b, 2, "b")
    source = element_name(a.dtype)
    key: Dict[str, Value] = {"input": source, "output": output or source}
    if sizes is not None:
        key.update(zip(("m", "n", "k"), sizes))
    arrays = {"a": a, "b": b}
    if c is not None:
        arrays["c"] = c
    settings: Dict[str, Value] = {"alpha": float(alpha), "beta": float(beta)}
    return _run(context, context.template("gemm", **key), {"m": m, "n": n, "k": k}, arrays, "c", settings)
