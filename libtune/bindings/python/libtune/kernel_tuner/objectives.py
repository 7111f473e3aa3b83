# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Objectives, metrics, and the best of several results."""

from __future__ import annotations

import math
import numbers
import re
import sys
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._errors import ArgumentError
from ._expressions import evaluate

Row = Dict[str, Any]

objective_default_map = {
    "time": False,
    "energy": False,
    "fitness": True,
    "cost": False,
    "loss": False,
    **{unit: True for unit in ("GFLOP/s", "TFLOP/s", "GB/s", "TB/s")},
    **{unit: True for unit in ("GFLOPS/W", "TFLOPS/W", "GFLOP/J", "TFLOP/J")},
}


class ErrorConfig(str):
    """Why a configuration has no time. Equal to its name."""

    def __new__(cls) -> "ErrorConfig":
        return super().__new__(cls, cls.__name__)


class InvalidConfig(ErrorConfig):
    """A configuration that the space or the device does not allow."""


class CompilationFailedConfig(ErrorConfig):
    """A configuration that does not compile."""


class RuntimeFailedConfig(ErrorConfig):
    """A configuration that fails when it runs, or gives wrong results."""


error_configs = {kind.__name__: kind for kind in (ErrorConfig, InvalidConfig, CompilationFailedConfig, RuntimeFailedConfig)}
_OUTCOMES = {"skipped": InvalidConfig, "compile failed": CompilationFailedConfig}


def error_of(outcome: str) -> ErrorConfig:
    """The error of an outcome of libtune."""
    return _OUTCOMES.get(outcome, RuntimeFailedConfig)()


def get_objective_defaults(objective: Any, objective_higher_is_better: Any) -> Tuple[Any, Any]:
    """An objective and its direction, which is known for usual names."""
    objective = objective or "time"
    if objective_higher_is_better is not None:
        return objective, objective_higher_is_better
    if isinstance(objective, (list, tuple)):
        return objective, [get_objective_defaults(each, None)[1] for each in objective]
    if objective not in objective_default_map:
        raise ArgumentError(
            f"say by objective_higher_is_better whether the objective '{objective}' is the better the higher it is"
        )
    return objective, objective_default_map[objective]


def read_objectives(objective: Any, higher_is_better: Any, objectives: Any) -> List[Tuple[str, bool]]:
    """All objectives of a call with their directions."""
    if objectives:
        if not isinstance(objectives, Mapping):
            raise ArgumentError(f"objectives is a dict of names and directions, not {objectives!r}")
        return [(name, bool(higher)) for name, higher in objectives.items()]
    names, higher = get_objective_defaults(objective, higher_is_better)
    names = [names] if isinstance(names, str) else list(names)
    higher = [higher] * len(names) if isinstance(higher, (bool, int)) else list(higher)
    if len(names) != len(higher):
        raise ArgumentError(f"there are {len(names)} objectives, and {len(higher)} directions")
    return [(name, bool(each)) for name, each in zip(names, higher)]


def check_metrics(metrics: Any, parameters: Sequence[str]) -> Dict[str, Any]:
    """The metrics of a call. Raises ArgumentError for names that are taken."""
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        raise ArgumentError(f"metrics is a dict of names and formulas or functions, not {metrics!r}")
    for name, formula in metrics.items():
        if name in ("time", "times", "outcome", "reason"):
            raise ArgumentError(f"a metric is called '{name}', which is a figure of each result: call it something else")
        if name in parameters:
            raise ArgumentError(f"a metric is called '{name}', which is a parameter as well: call it something else")
        if not callable(formula) and not isinstance(formula, str):
            raise ArgumentError(f"the metric '{name}' is {formula!r}, and a text or a function is needed")
    return dict(metrics)


def process_metrics(params: Row, metrics: Optional[Mapping[str, Any]]) -> Row:
    """Adds metrics to a result, in their order: each may use those before it."""
    if metrics is not None and not isinstance(metrics, dict):
        raise ValueError("metrics is a dict, so that each may use those before it")
    for name, formula in (metrics or {}).items():
        if isinstance(formula, str):
            params[name] = evaluate(formula, _by_identifier(params))
        elif callable(formula):
            params[name] = formula(params)
        else:
            raise ValueError(f"the metric '{name}' is {formula!r}, and a text or a function is needed")
    return params


def _by_identifier(row: Row) -> Row:
    return {name: value for name, value in row.items() if re.fullmatch(r"[^\W\d]\w*", name)}


def get_result_cost(result: Row, objectives: Sequence[str], objective_higher_is_better: Sequence[bool]) -> List[float]:
    """A cost for each objective: less is better."""
    if "__error__" in result:
        return [sys.float_info.max] * len(objectives)
    return [-result[name] if higher else result[name] for name, higher in zip(objectives, objective_higher_is_better)]


def _value(row: Row, objective: str) -> Optional[float]:
    value = row.get(objective)
    is_number = isinstance(value, numbers.Real) and "__error__" not in row and not math.isnan(value)
    return float(value) if is_number else None  # type: ignore[arg-type]


def get_best_config(results: Sequence[Row], objective: str, objective_higher_is_better: bool = False) -> Row:
    """The result with the least, or greatest, value of an objective."""
    worst = -math.inf if objective_higher_is_better else math.inf
    best = max if objective_higher_is_better else min

    def key(row: Row) -> float:
        value = _value(row, objective)
        return worst if value is None else value

    return best(results, key=key)


def get_pareto_results(
    results: Sequence[Row], objectives: Sequence[str], objective_higher_is_better: Sequence[bool], mark_optima: bool = True
) -> List[Row]:
    """The results that no other one beats by all objectives, in their order."""
    valid = [row for row in results if all(_value(row, name) is not None for name in objectives)]
    costs = [get_result_cost(row, objectives, objective_higher_is_better) for row in valid]
    front = []
    for row, own in zip(valid, costs):
        beaten = any(all(a <= b for a, b in zip(other, own)) and other != own for other in costs)
        if not beaten:
            front.append(row)
            if mark_optima:
                row["optimal"] = True
    return front
