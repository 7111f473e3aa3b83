# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Searches over a cache file, without running anything."""

from __future__ import annotations

import math
import random
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .. import _libtune
from .._device import default_context, devices
from .._errors import ArgumentError, Error, NoDeviceError, SkipConfiguration, TuningFailedError
from .._tuning import _Function
from .cache import CacheFile
from .objectives import Row, process_metrics
from .parameters import Parameters
from .restrictions import Restriction, add_restrictions
from .strategies import begin_with, limits, most_trials


class Simulation:
    """A space whose configurations a cache file has measured."""

    def __init__(
        self,
        cache: CacheFile,
        parameters: Parameters,
        restrictions: Sequence[Restriction],
        metrics: Mapping[str, Any],
        objectives: Sequence[Tuple[str, bool]],
    ) -> None:
        self._cache = cache
        self._parameters = parameters
        self._metrics = metrics
        self._objective, self._higher = objectives[0]
        self._visited: Dict[str, Row] = {}
        self._failure: Optional[ArgumentError] = None
        self._space = _Function(cache.head["kernel_name"], self._measure)
        parameters.add_to(self._space)
        add_restrictions(restrictions, parameters, self._space)

    def run(self, strategy: str, options: Mapping[str, Any]) -> List[Row]:
        """The results that a search visits, in its order."""
        core = self._space._core
        if not devices():
            return self._run_alone(strategy, options)
        core.metric_by("kt_objective", lambda native, _: self._value(self._parameters.decode(native)))
        self._space.option(strategy=strategy, objective=("max" if self._higher else "min") + " kt_objective", mode="force")
        fitting = {name: value for name, value in options.items() if name != "time_limit"}
        budget, others = limits(fitting, core.size())
        begin_with(options, self._parameters, core)
        self._space.option(**dict(others), **({"budget": budget} if budget else {}))
        self._space.on_trial(lambda *_: self._raise_failure())
        try:
            self._space.tune(default_context())
        except Error as error:
            self._raise_failure()
            if not self._visited or not isinstance(error, TuningFailedError):
                raise
        self._raise_failure()
        return self._within(options.get("time_limit"))

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run_alone(self, strategy: str, options: Mapping[str, Any]) -> List[Row]:
        """Where there is no device: the whole space, or a random part of it."""
        if strategy not in ("exhaustive", "random"):
            raise NoDeviceError(f"there is no device, which a simulation with the strategy '{strategy}' needs: brute_force and "
                                "random_sample do without")
        columns = self._space._core.space()
        found = [self._parameters.decode(dict(zip(columns, values))) for values in zip(*columns.values())]
        if strategy == "random":
            random.Random(options.get("seed")).shuffle(found)
        for params in found[: most_trials(options, len(found))]:
            self._row(params)
        return self._within(options.get("time_limit"))

    def _within(self, time_limit: Any) -> List[Row]:
        """The results of the first seconds of a real search."""
        made, spent = [], 0.0
        for row in self._visited.values():
            if time_limit is not None and spent >= 1e3 * time_limit:
                break
            spent += _cost(row)
            made.append(row)
        return made

    def _row(self, params: Mapping[str, Any]) -> Row:
        key = self._parameters.key(params)
        if key not in self._visited:
            entry = self._cache.entries.get(key)
            if entry is None:
                self._failure = ArgumentError(
                    f"{self._cache.path} has no configuration {key}: a simulation needs all that the restrictions allow"
                )
                raise self._failure
            row = dict(entry)
            self._visited[key] = row if "__error__" in row else process_metrics(row, dict(self._metrics))
        return self._visited[key]

    def _value(self, params: Mapping[str, Any]) -> float:
        return float(self._row(params)[self._objective])

    def _measure(self, native: Mapping[str, Any], _iterations: int) -> float:
        row = self._row(self._parameters.decode(native))
        if "__error__" in row or not isinstance(row.get(self._objective), (int, float)):
            raise SkipConfiguration(str(row.get("__error__", "the cache has no value of the objective")))
        time = row.get("time")
        return time / 1e3 if isinstance(time, (int, float)) and 0 < time < math.inf else 1e-3


def _cost(row: Mapping[str, Any]) -> float:
    return sum(row.get(name) or 0.0 for name in ("compile_time", "verification_time", "benchmark_time"))


def simulated_environment(cache: CacheFile, rows: Sequence[Row]) -> Dict[str, Any]:
    """The environment of a simulation."""
    return {
        "device_name": cache.head["device_name"],
        "simulation": True,
        "simulated_time": sum(map(_cost, rows)),
        "libtune": _libtune.__version__,
    }
