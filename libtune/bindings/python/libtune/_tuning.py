# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tuning of kernels and of functions, in the short way of libtune's bare kernels."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _libtune
from ._arrays import DeviceArray, asarray, element_name, host_array, is_on_device, numpy, require_native
from ._device import Context, Queue, Value, context_of, is_index
from ._errors import ArgumentError
from .databases import Columns, as_frame
from .operations import Operation, scalar_bytes

Configuration = Dict[str, Value]
Expression = Union[str, int]

_IN, _OUT, _INOUT = 0, 1, 2


class Argument:
    """An array that a kernel is called with, its use and the name of its slot. Made by in_, out, inout."""

    def __init__(self, access: int, array: Any, name: str) -> None:
        self.access = access
        self.array = array
        self.name = name


def in_(array: Any, name: str = "") -> Argument:
    """An array that a kernel reads."""
    return Argument(_IN, array, name)


def out(array: Any, name: str = "") -> Argument:
    """An array that a kernel writes, all of it; only its shape and dtype count."""
    return Argument(_OUT, array, name)


def inout(array: Any, name: str = "") -> Argument:
    """An array that a kernel reads and writes, or writes in part."""
    return Argument(_INOUT, array, name)


class Tuned:
    """The best configuration of a kernel or function, with the trials of its search."""

    def __init__(self, core: _libtune.Tuned, context: Context, arguments: List[Any]) -> None:
        self._core = core
        self._context = context
        self._arguments = arguments
        self.best: Configuration = core.best
        """The values of the best configuration."""
        self.time_ns: Optional[float] = core.time_ns
        """Its median time; None if the result was found in the database."""

    def trials(self, frame: Optional[bool] = False) -> Any:
        """Columns with a row for each configuration that was tried: the parameters, outcome, message, score_ns,
        score_lower_ns, score_upper_ns, samples_ns, level, preparation_ns, elapsed_ns and metrics; see as_frame. Times
        from before and after an interruption of the search compare once divided by level. The best one has won a
        comparison in turns: on an unsteady device another may have the least score_ns."""
        return as_frame(self._core.trials(), frame)

    def instantiate(self, queue: Optional[Queue] = None) -> Operation:
        """Makes an operation of a tuned kernel, whose slots are named as its arguments."""
        queue = queue or self._context.queue
        return Operation(self._core.instantiate(queue._core), queue)

    def run(self, context: Optional[Context] = None) -> List[Any]:
        """Runs a tuned kernel once on its arguments, and returns them as numpy arrays and values."""
        results = self._core.run((context or self._context)._core)
        return _read(results.read, self._arguments)

    def __repr__(self) -> str:
        return f"<libtune.Tuned {self.best}>"


def _read(read: Callable[[int, Any], None], arguments: Sequence[Any]) -> List[Any]:
    """The arrays of a run as numpy arrays; values as they were given."""
    made = []
    for place, argument in enumerate(arguments):
        if not isinstance(argument, Argument):
            made.append(argument)
            continue
        shape = tuple(int(extent) for extent in argument.array.shape)
        host = numpy().empty(shape, element_name(argument.array.dtype))
        read(place, host.reshape(-1).view("uint8"))
        made.append(host)
    return made


class _Space:
    """What tuners of kernels and functions have in common. Functions return the object itself."""

    def __init__(self, core: _libtune.Tuner, name: str) -> None:
        self._core = core
        self.name = name
        self._arguments: List[Any] = []

    def parameter(self, name: str, candidates: Iterable[Value]) -> "_Space":
        """Adds a parameter with its candidates: numbers, bools or texts. The last one added varies
        fastest. In a kernel it is a macro of this name."""
        self._core.parameter(name, list(candidates))
        return self

    def parameters(self, space: Mapping[str, Iterable[Value]]) -> "_Space":
        """Adds several, in their order."""
        for name, candidates in space.items():
            self.parameter(name, candidates)
        return self

    def restrict(
        self, condition: Union[str, Callable[[Configuration], bool]], description: str = ""
    ) -> "_Space":
        """Allows only configurations for which an expression holds ("block_size_x * block_size_y <= 1024"), or
        for which a function of the configuration returns true. Expressions are much faster."""
        if isinstance(condition, str):
            self._core.restrict(condition)
        else:
            self._core.restrict_by(condition, description)
        return self

    def metric(self, name: str, formula: str, unit: str = "") -> "_Space":
        """Adds a figure to each trial: a formula over the parameters, "time" (ns) and other figures."""
        self._core.metric(name, formula, unit)
        return self

    def option(self, **options: Optional[str]) -> "_Space":
        """Sets options for this search alone, named as those of Context.set_option."""
        for name, text in options.items():
            self._core.set_option(name, None if text is None else str(text))
        return self

    def remember(self, name: str, version: int = 0, /, **key: Value) -> "_Space":
        """Remembers results in the tuning database by a name, a version and a key, and looks there first."""
        self._core.remember(name, version, key)
        return self

    def on_trial(self, function: Callable[[Configuration, str, str, float], None]) -> "_Space":
        """Calls a function after each trial: (configuration, outcome, reason, time in ns or NaN). What it
        raises ends the search."""
        self._core.on_trial(function)
        return self

    def tune(self, context: Any = None) -> Tuned:
        """Finds the best configuration on a context's device: in the database, if it is remembered there, or
        by a search. Ctrl-C ends it after the present step, also while it waits for another process."""
        context = context_of(context)
        return Tuned(self._core.tune(context._core), context, list(self._arguments))


class Kernel(_Space):
    """A kernel that is tuned without an operation, a template or a key of its own.

        kernel = libtune.Kernel("diffuse", open("naive.kernel").read(), (n, n))
        kernel.parameter("block_size_x", [16, 32, 64]).parameter("block_size_y", [2, 4, 8])
        kernel.arguments(libtune.inout(u_new, "u_new"), libtune.in_(u, "u"),
                         numpy.uint32(n), numpy.uint32(n), numpy.float32(0.225))
        best = kernel.tune()

    name: in the text; on CUDA also an instance of a template, with parameters between < and >.
    source: CUDA C++, OpenCL C, the portable dialect of libtune; or a function that makes the text of a
        configuration.
    problem_size: one to three numbers or expressions over the parameters: work items along x, y and z.
    headers: texts that the source includes, by their names. flags: for the device's own compiler.
    """

    def __init__(
        self,
        name: str,
        source: Union[str, Callable[[Configuration], str]],
        problem_size: Union[Expression, Sequence[Expression]],
        *,
        headers: Optional[Mapping[str, str]] = None,
        flags: Sequence[str] = (),
    ) -> None:
        is_one = isinstance(problem_size, str) or is_index(problem_size)
        sizes = [problem_size] if is_one else list(problem_size)
        text = "" if callable(source) else source
        super().__init__(_libtune.Tuner(name, text, [str(size) for size in sizes]), name)
        if callable(source):
            self._core.source_by(source)
        for header, contents in (headers or {}).items():
            self._core.header(header, contents)
        for flag in flags:
            self._core.flag(flag)

    def divide_grid(self, axis: int, divisors: Iterable[Expression]) -> "Kernel":
        """Divides the problem along an axis (0, 1, 2) by the product of these, rounded up: that is the
        number of work groups. Without a call it is divided by the extent of the work group."""
        self._core.divide_grid(axis, [str(divisor) for divisor in divisors])
        return self

    def work_group(self, x: str, y: str = "", z: str = "") -> "Kernel":
        """Renames the parameters that are the extents of the work group: block_size_x, _y and _z."""
        self._core.work_group(x, y, z)
        return self

    def local_memory(self, size: Expression) -> "Kernel":
        """Gives each work group so many bytes of dynamic local memory."""
        self._core.local_memory(str(size))
        return self

    def define(self, name: str, text: Value) -> "Kernel":
        """Adds a macro."""
        self._core.define(name, text)
        return self

    def limit(self, condition: str) -> "Kernel":
        """Lets only those configurations run whose compiled kernels fit: "registers <= 64"."""
        self._core.limit(condition)
        return self

    def work(
        self,
        flops: Union[str, float, None] = None,
        bytes: Union[str, float, None] = None,
        arithmetic: Optional[str] = None,
    ) -> "Kernel":
        """Declares the useful work of a run, the same for each configuration: numbers, or expressions over the
        parameters, the names of the key, the macros, and problem_size_x, _y and _z. Trials then have the metrics
        gflops, gbs and of_peak, the part of the device's measured peak.

        flops: operations, a multiply-add is two. bytes: read and written. arithmetic: the units that do all of the
        operations: float32, float64, float16, int32, tensor_float16, tensor_tf32 or tensor_int8; without it, they
        are compared with no peak.
        """
        texts = [None if each is None else str(each) for each in (flops, bytes)]
        self._core.work(texts[0], texts[1], arithmetic)
        return self

    def arguments(self, *given: Any) -> "Kernel":
        """Adds what the kernel is called with, in its order: in_(array), out(array), inout(array); arrays alone,
        which are inout; and numbers of numpy, such as numpy.int32(7). Arrays of the host are copied now; those of
        other libraries on the device belong to the default context (else: libtune.asarray(array, context))."""
        for argument in given:
            is_array = getattr(argument, "shape", ()) not in ((), None) or isinstance(
                argument, DeviceArray
            )
            if not isinstance(argument, Argument) and not is_array:
                self._core.scalar(scalar_bytes(argument))
                self._arguments.append(argument)
                continue
            if not isinstance(argument, Argument):
                argument = inout(argument)
            self._add_array(argument)
            self._arguments.append(argument)
        return self

    def _add_array(self, argument: Argument) -> None:
        if is_on_device(argument.array):
            array = asarray(argument.array, getattr(argument.array, "context", None))
            if array.padded != array.shape:
                raise ArgumentError(
                    f"an array of a kernel has no padding, and this one of the shape {array.shape} "
                    f"has the extents {array.padded} in memory: copy it first"
                )
            self._core.device_array(argument.access, array.dtype, list(array.shape), array._core, argument.name)
            argument.array = array
            return
        host = host_array(argument.array, None, None, "an argument")
        contents = None if argument.access == _OUT else host.reshape(-1).view("uint8")
        self._core.array(argument.access, host.dtype.name, list(host.shape), contents, argument.name)
        argument.array = host

    def constant(self, name: str, values: Any) -> "Kernel":
        """Fills a __constant__ or __device__ variable of a CUDA kernel before it runs."""
        given = numpy().asanyarray(values)
        require_native(given, f"the constant '{name}'")
        self._core.constant(name, numpy().ascontiguousarray(given).reshape(-1).view("uint8"))
        return self

    def answer(
        self, argument: int, expected: Any, *, atol: Optional[float] = None, rtol: Optional[float] = None
    ) -> "Kernel":
        """Sets the contents that an array has to have after a run. Without tolerances the difference is
        allowed that numpy.allclose allows. Give all arguments before."""
        given = self._arguments[argument] if 0 <= argument < len(self._arguments) else None
        if not isinstance(given, Argument):
            raise ArgumentError(f"argument {argument} of the kernel '{self.name}' is no array")
        shape = tuple(int(extent) for extent in given.array.shape)
        host = host_array(expected, element_name(given.array.dtype), shape, f"the answer for argument {argument}")
        self._core.answer(
            argument,
            host.reshape(-1).view("uint8"),
            -1.0 if atol is None else float(atol),
            -1.0 if rtol is None else float(rtol),
        )
        return self

    def reference(
        self, trusted: "Kernel", *, atol: Optional[float] = None, rtol: Optional[float] = None, **configuration: Value
    ) -> "Kernel":
        """Takes the results of another kernel with the same arguments, in one configuration, as the answers for the
        arrays that have none. Tolerances as for answer."""
        self._core.reference(
            trusted._core,
            configuration,
            -1.0 if atol is None else float(atol),
            -1.0 if rtol is None else float(rtol),
        )
        return self

    def vary(self, argument: int, *kinds: str) -> "Kernel":
        """Runs each configuration also on other contents of an array of data, made from the given ones: "shuffled",
        "uniform", "zeros", "saturated", "extremes", "subnormals" or "not_finite". Results are compared with those of
        the reference. Give all arguments before."""
        for kind in kinds:
            self._core.vary(argument, kind)
        return self

    def report_accuracy(self) -> "Kernel":
        """Gives each right configuration the metrics "error", "error_rms", "snr" (dB) and "ulps", for goals such as
        "min time, snr >= 60 dB"."""
        self._core.report_accuracy()
        return self

    def report_bits(self) -> "Kernel":
        """Gives each right configuration the metric "bits": a digest of its results, equal for equal bits."""
        self._core.report_bits()
        return self

    def verify(self, function: Callable[[List[Any]], Union[None, bool, str]]) -> "Kernel":
        """Judges results by a function of all arguments, arrays as numpy arrays: it returns None or True if
        they are right, else False or what is wrong."""

        arguments = self._arguments  # not self, because the core would keep it for ever

        def decide(read: Callable[[int, Any], None]) -> Union[None, bool, str]:
            answer = function(_read(read, arguments))
            return answer if answer is None or isinstance(answer, str) else bool(answer)

        self._core.verify_by(decide)
        return self

    def run(self, context: Any = None, **configuration: Value) -> List[Any]:
        """Compiles one configuration, runs it once on the arguments' contents, and returns all of them, arrays as
        numpy arrays."""
        results = self._core.run(context_of(context)._core, configuration)
        return _read(results.read, self._arguments)


class _Function(_Space):
    """A function that measures its configurations itself."""

    def __init__(self, name: str, measure: Callable[[Configuration, int], float]) -> None:
        super().__init__(_libtune.Tuner(name), name)
        self._core.measure_by(measure)


def tune(
    name: str,
    parameters: Mapping[str, Iterable[Value]],
    measure: Callable[[Configuration, int], float],
    *,
    restrictions: Iterable[Union[str, Callable[[Configuration], bool]]] = (),
    context: Any = None,
    version: int = 0,
    key: Optional[Mapping[str, Value]] = None,
    metrics: Optional[Mapping[str, str]] = None,
    options: Optional[Mapping[str, Optional[str]]] = None,
    on_trial: Optional[Callable[[Configuration, str, str, float], None]] = None,
) -> Tuned:
    """Tunes anything that a function measures: it is called with a configuration and a number of runs, and
    returns the seconds that one of them took. What it raises fails the configuration, with the text as the
    reason; SkipConfiguration leaves it out.

    key: remembers the result in the tuning database by the name, the version and these values.
    """
    space = _Function(name, measure)
    space.parameters(parameters)
    for condition in restrictions:
        space.restrict(condition)
    for metric, formula in (metrics or {}).items():
        space.metric(metric, formula)
    space.option(**dict(options or {}))
    if key is not None:
        space.remember(name, version, **dict(key))
    if on_trial is not None:
        space.on_trial(on_trial)
    return space.tune(context)


class KernelTuner:
    """A kernel for each key, remembered by a name and a version. Made by the decorator kernel."""

    def __init__(self, describe: Callable[..., Kernel], name: str, version: int) -> None:
        functools.update_wrapper(self, describe)
        self.describe = describe
        self.name = name
        self.version = version

    def __call__(self, context: Any = None, **key: Value) -> Tuned:
        """Describes the kernel of a key, and returns its tuning: found in the database, or by a search."""
        made = self.describe(**key)
        made.remember(self.name, self.version, **key)
        return made.tune(context)


def kernel(name: Optional[str] = None, version: int = 0) -> Callable[[Callable[..., Kernel]], KernelTuner]:
    """Makes a tuner of a function that describes the kernel of a key:

        @libtune.kernel("app.diffuse", version=1)
        def diffuse(n):
            made = libtune.Kernel("diffuse", source, (n, n))
            ...
            return made

        best = diffuse(n=4096)      # tuned the first time, found from then on

    name: of the function in the database; by default the module's and the function's own.
    version: raise it when results should not be used any more.
    """

    def make(describe: Callable[..., Kernel]) -> KernelTuner:
        title = name or f"{describe.__module__}.{describe.__qualname__}".replace("<", "").replace(">", "")
        return KernelTuner(describe, title, version)

    return make
