# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that depend on a parameter, and the accuracy of results."""

from __future__ import annotations

import re
from collections import UserDict
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Set, Tuple

import numpy

from .._errors import ArgumentError
from ._expressions import evaluate, names_in
from .observers import OutputObserver


class Tunable(UserDict):
    """An argument for each value of a parameter, or of a text over parameters. A list has the places as values."""

    def __init__(self, param_key: str, arrays: Any) -> None:
        super().__init__(dict(enumerate(arrays)) if isinstance(arrays, (list, tuple)) else arrays)
        self.param_key = param_key

    def select_for_configuration(self, params: Mapping[str, Any]) -> Any:
        """The argument of a configuration. Raises KeyError if there is none."""
        key = self.param_key
        value = key(params) if callable(key) else params[key] if key in params else evaluate(key, params)
        if value not in self.data:
            raise KeyError(f"'{value}' is not a valid parameter value of '{key}'; there are {', '.join(map(str, self.data))}")
        found = self.data[value]
        return found.select_for_configuration(params) if isinstance(found, Tunable) else found

    __call__ = select_for_configuration


_FLOATS = {
    **dict.fromkeys(("half", "f16", "float16", "__half", "khalf", 16), numpy.float16),
    **dict.fromkeys(("float", "single", "f32", "float32", "kfloat", 32), numpy.float32),
    **dict.fromkeys(("double", "f64", "float64", "kdouble", 64), numpy.float64),
}


def _float_type(name: Any) -> Any:
    if isinstance(name, str) and name.lower() in ("bfloat16", "bf16", "kbfloat16", "__nv_bfloat16"):
        return _bfloat16() or numpy.dtype(name)
    return _FLOATS.get(name.lower() if isinstance(name, str) else name) or numpy.dtype(name)


def _bfloat16() -> Any:
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return None
    return bfloat16


class TunablePrecision(Tunable):
    """An array in the precision that a parameter names: half, float or double, or as dtypes says."""

    def __init__(self, param_key: str, array: Any, dtypes: Any = None) -> None:
        if not dtypes:
            dtypes = ["half", "float", "double"] + (["bfloat16"] if _bfloat16() is not None else [])
        if not isinstance(dtypes, Mapping):
            dtypes = {name: _float_type(name) for name in dtypes}
        given = array if isinstance(array, numpy.generic) else numpy.array(array)
        super().__init__(param_key, {name: given.astype(dtype) for name, dtype in dtypes.items()})


def is_tunable(given: Any) -> bool:
    """True for a Tunable of this module, or of Kernel Tuner."""
    return hasattr(given, "select_for_configuration")


def select_all(arguments: Sequence[Any], params: Mapping[str, Any]) -> list:
    """The arguments of a configuration."""
    return [each.select_for_configuration(params) if is_tunable(each) else each for each in arguments]


def parameters_read(given: Sequence[Any], names: Sequence[str]) -> Set[str]:
    """The parameters that Tunables among arguments depend on."""
    read: Set[str] = set()
    for each in given:
        if not is_tunable(each):
            continue
        key = each.param_key
        if callable(key):
            raise ArgumentError("a Tunable depends on a function: give the name of a parameter, or a text over parameters")
        read |= {key} if key in names else names_in(key) & set(names)
        read |= parameters_read(list(each.data.values()), names)
    return read


_WORDS = {"average": "mean", "avg": "mean", "squared": "square", "sq": "square", "max": "maximum", "rel": "relative",
          "abs": "absolute", "log": "logarithmic"}
_Error = Callable[[Any, Any, float], Any]
_ERRORS: Dict[Tuple[str, ...], _Error] = {
    ("mse", "mean square"): lambda a, b, _: numpy.mean((a - b) ** 2),
    ("rmse", "root mean square"): lambda a, b, _: numpy.sqrt(numpy.mean((a - b) ** 2)),
    ("nrmse", "normalized root mean square"): lambda a, b, _: numpy.sqrt(numpy.mean((a - b) ** 2) / numpy.mean(a**2)),
    ("mae", "absolute", "mean absolute"): lambda a, b, _: numpy.mean(abs(a - b)),
    ("mre", "relative", "mean relative"): lambda a, b, least: numpy.mean(abs(a - b) / numpy.maximum(abs(a), least)),
    ("rmsre", "root mean square relative"): lambda a, b, least: numpy.sqrt(
        numpy.mean((a - b) ** 2 / numpy.maximum(a, least) ** 2)
    ),
    ("male", "mean absolute logarithmic"): lambda a, b, least: numpy.mean(
        abs(numpy.log10(a + least) - numpy.log10(b + least))
    ),
    ("rmsle", "root mean square logarithmic"): lambda a, b, least: numpy.sqrt(
        numpy.mean((numpy.log10(a + least) - numpy.log10(b + least)) ** 2)
    ),
    ("maximum", "maximum absolute"): lambda a, b, _: numpy.max(abs(a - b)),
    ("maximum relative",): lambda a, b, least: numpy.max(abs(a - b) / numpy.maximum(abs(a), least)),
}


def error_metric_from_name(user_key: str, EPS: float = 1e-8) -> Callable[[Any, Any], float]:
    """A function of an answer and a result: "mse", "root mean square error", "max rel" and so on."""
    words = re.split(r"[\s_-]+", user_key.lower().strip())
    key = " ".join(_WORDS.get(word, word) for word in words if word != "error")
    for names, error in _ERRORS.items():
        if key in names:
            return lambda a, b: float(error(numpy.asarray(a, "float64"), numpy.asarray(b, "float64"), EPS))
    raise ValueError(f"there is no error '{user_key}'; there are {', '.join(names[0] for names in _ERRORS)}")


class AccuracyObserver(OutputObserver):
    """Adds the largest error of all results with an answer: by default "error", the root mean square."""

    def __init__(self, metric: Any = None, key: str = "error", *, atol: float = 1e-8) -> None:
        self.key = key
        self.metric = metric if callable(metric) else error_metric_from_name(metric or "rmse", atol)
        self.result: Optional[float] = None

    def process_output(self, answer: Any, output: Any) -> None:
        self.result = max(self.metric(a, b) for a, b in zip(answer, output) if a is not None)

    def get_results(self) -> Dict[str, Any]:
        return {self.key: self.result}
