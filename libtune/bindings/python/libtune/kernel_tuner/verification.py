# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Answers, and functions that verify."""

from __future__ import annotations

import inspect
from typing import Any, Callable, List, Optional, Sequence

import numpy

from .._errors import ElementTypeError
from .._tuning import Kernel
from ._description import as_given, is_array

RTOL = 1e-5  # as numpy.allclose


def normalize_verify_function(v: Optional[Callable[..., Any]]) -> Optional[Callable[..., Any]]:
    """A function of the answer, the results and atol, of one that may not take atol."""
    if v is None:
        return None
    try:
        names = inspect.signature(v).parameters.values()
    except (TypeError, ValueError):
        return v
    if any(each.name == "atol" or each.kind == each.VAR_KEYWORD for each in names):
        return v
    return lambda answer, result_host, atol: v(answer, result_host)


def to_host(array: Any) -> Any:
    """An array of any library as one of numpy; numbers and None as they are."""
    if array is None or isinstance(array, (numpy.ndarray, numpy.generic)):
        return array
    for way in ("get", "cpu"):  # CuPy and pyopencl, PyTorch
        if is_array(array) and hasattr(array, way):
            array = getattr(array, way)()
    return numpy.asarray(array) if is_array(array) else array


def allclose(expected: Any, found: Any, atol: float) -> bool:
    """numpy.allclose of all elements, whatever the shapes."""
    return bool(numpy.allclose(numpy.ravel(expected), numpy.ravel(found), rtol=RTOL, atol=atol))


def add_verification(
    kernel: Kernel,
    arguments: Sequence[Any],
    answer: Optional[Sequence[Any]],
    atol: float,
    verify: Optional[Callable[..., Any]],
    output_observers: Sequence[Any],
) -> None:
    """Adds the answer to a kernel, or the function that judges in its place."""
    expected: Optional[List[Any]] = None if answer is None else list(answer)
    if verify is not None or output_observers:
        _verify_by(kernel, arguments, expected, atol, verify, output_observers)
    elif expected is not None:
        _compare(kernel, arguments, expected, atol)


def _verify_by(
    kernel: Kernel,
    arguments: Sequence[Any],
    expected: Optional[List[Any]],
    atol: float,
    verify: Optional[Callable[..., Any]],
    output_observers: Sequence[Any],
) -> None:
    judges = normalize_verify_function(verify)

    def decide(found: List[Any]) -> bool:
        found = [as_given(each, given) for each, given in zip(found, arguments)]
        if expected is not None and len(expected) == len(found):
            found = [None if wanted is None else each for wanted, each in zip(expected, found)]
        for observer in output_observers:
            observer.process_output(expected, found)
        return judges is None or bool(judges(expected, found, atol=atol))

    kernel.verify(decide)


def _compare(kernel: Kernel, arguments: Sequence[Any], expected: List[Any], atol: float) -> None:
    if len(expected) != len(arguments):
        raise ElementTypeError(
            f"answer has {len(expected)} elements and there are {len(arguments)} arguments: give None for those that "
            "are not compared"
        )
    by_function = []
    for place, wanted in enumerate(expected):
        if wanted is None or not is_array(arguments[place]):
            continue  # a number of the host does not change
        host = numpy.asarray(to_host(wanted))
        if host.dtype == getattr(arguments[place], "dtype", None) and host.dtype.kind in "bV":
            host = numpy.ascontiguousarray(host).reshape(-1).view(numpy.uint8)
        argument = kernel._arguments[place].array
        shape, dtype = tuple(argument.shape), numpy.dtype(argument.dtype)
        _check(place, host, shape, dtype)
        if host.dtype == dtype:
            kernel.answer(place, host.reshape(shape), atol=atol, rtol=RTOL)
        else:
            by_function.append((place, host))
    if by_function:
        kernel.verify(lambda found: all(allclose(host, found[place], atol) for place, host in by_function))


def _check(place: int, host: Any, shape: Sequence[int], dtype: Any) -> None:
    if host.size != numpy.prod(shape, dtype=int):
        raise ElementTypeError(
            f"the answer for argument {place} has the shape {host.shape}, and {tuple(shape)} is needed; a number beside "
            "an array is for verify"
        )
    if not numpy.can_cast(dtype, host.dtype):
        raise ElementTypeError(f"the answer for argument {place} is of {host.dtype}, which cannot hold {dtype}: use astype")
