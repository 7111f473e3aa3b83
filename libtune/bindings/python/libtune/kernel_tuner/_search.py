# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A search of tune_kernel on a device."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._errors import ArgumentError, Error, TuningFailedError
from ._description import Description, describe
from ._observation import Observation, make_observers
from ._results import fail, make_row, rows_of, spread
from .cache import CacheFile
from .objectives import Row, process_metrics
from .restrictions import Restriction, add_restrictions, read_restrictions
from .strategies import begin_with, find_strategy, limits, read_options
from .verification import add_verification

_NATIVE = ("energy", "power")  # figures that libtune measures itself


class Search:
    """What one call of tune_kernel needs."""

    def __init__(self, given: Mapping[str, Any], objectives: Sequence[Tuple[str, bool]]) -> None:
        self._given = given
        self._objectives = list(objectives)
        self._metrics: Mapping[str, Any] = given["metrics"]
        self._strategy = find_strategy(given["strategy"])
        self._options = read_options(given["strategy_options"], self._strategy, given["seed"])
        self._described = Description(given, given["tune_params"])
        self._kernel, self._parameters = self._described.kernel, self._described.parameters
        self._restrictions = read_restrictions(given["restrictions"], self._parameters.names)
        self._restrictions.append(self._device_limit())
        add_restrictions(self._restrictions, self._parameters, self._kernel)
        observers = make_observers(
            given["observers"], {name: given[name] for name in ("device", "platform", "compiler", "lang")}
        )
        self._observed = Observation(observers, given["iterations"], self._parameters)
        self._observed.register(self._described.context, self.environment())
        if observers:
            self._kernel._core.observe_by(self._observed)
        add_verification(
            self._kernel, self._described.arguments, given["answer"], given["atol"], given["verify"],
            self._observed.output,
        )
        self._cache = self._open_cache()
        self._found: List[Row] = self._rows_of_cache()
        self.failed: List[Row] = []  # as they are heard of

    def _device_limit(self) -> Restriction:
        most = self._described.context.device.max_work_group_size
        extents = [name for name in self._described.extents if name in self._parameters.names]
        return Restriction(
            lambda params: math.prod(int(params[name]) for name in extents) <= most,
            extents, " * ".join(extents) + f" <= {most}", True,
        )

    def environment(self) -> Dict[str, Any]:
        """The environment of the results."""
        return describe(self._described.context.device, self._given)

    def _open_cache(self) -> Optional[CacheFile]:
        if not self._given["cache"]:
            return None
        return CacheFile.open(
            self._given["cache"], self._given["kernel_name"], self._given["problem_size"],
            self._given.get("whole_space", self._given["tune_params"]),
            [name for name, _ in self._objectives], self._described.context.device.name,
        )

    def _rows_of_cache(self) -> List[Row]:
        """The results that the file has of this space, which are not measured again."""
        if self._cache is None:
            return []
        rows = []
        known = set()
        for key, entry in self._cache.entries.items():
            params = {name: entry.get(name) for name in self._parameters.names}
            try:
                known.add(tuple(self._parameters.encode(params).values()))
            except ArgumentError:
                continue  # of another space
            if all(each.holds(params) for each in self._restrictions):
                row = dict(entry)
                rows.append(row if "__error__" in row else process_metrics(row, dict(self._metrics)))
        if known:
            names = [each.native_name for each in self._parameters.all]
            self._kernel._core.restrict_by(
                lambda native: tuple(native[name] for name in names) not in known, "the cache file has it"
            )
        return rows

    def run(self) -> Tuple[List[Row], Dict[str, Any]]:
        """The results, and the environment with the winner if it is known."""
        environment = self.environment()
        size = self._kernel._core.size()
        if self._given["verbose"]:
            print(f"{size} configurations are to be searched, {len(self._found)} are in the cache file")
        if size == 0 and (self._found or "whole_space" in self._given):
            return self._found, environment
        self._set_options(size)
        if self._cache is not None:
            self._cache.begin()
        begin = time.perf_counter()
        try:
            rows, winner = self._tune()
        finally:
            if self._cache is not None:
                self._cache.finish({})
        used = sum(row["compile_time"] + row["benchmark_time"] for row in rows)
        spread(rows, 0.0, 1e3 * (time.perf_counter() - begin) - used)
        if self._cache is not None:
            self._cache.finish({self._parameters.key(row): row for row in rows})
        if winner is not None and not self._found and self._is_time():
            environment["winner"] = winner
        rows = self._found + rows
        if self._strategy == "exhaustive":
            rows.sort(key=self._parameters.places)  # trials come in the order in which they were compiled
        return rows, environment

    def _is_time(self) -> bool:
        return [name for name, _ in self._objectives] == ["time"] and not self._objectives[0][1]

    def _set_options(self, size: int) -> None:
        kernel = self._kernel.option(strategy=self._strategy)
        budget, others = limits(self._options, size)
        try:
            begin_with(self._options, self._parameters, kernel._core)
        except ArgumentError:
            if not self._found:  # else the cache file has it
                raise
        kernel.option(**dict(others), **({"budget": budget} if budget else {}))
        if not self._is_time():
            kernel.option(objective=", ".join(self._add_objectives()))
        kernel.on_trial(self._hear)

    def _add_objectives(self) -> List[str]:
        texts = []
        for place, (name, higher) in enumerate(self._objectives):
            native = f"kt_objective_{place}"
            if name in _NATIVE and name not in self._metrics and not self._given["observers"]:
                native = name
            else:
                self._kernel._core.metric_by(native, self._figure(name))
            texts.append(f"{'max' if higher else 'min'} {native}")
        return texts

    def _figure(self, name: str) -> Any:
        """A function that computes an objective of a trial."""

        def compute(native: Mapping[str, Any], figures: Mapping[str, Any]) -> float:
            params = self._parameters.decode(native)
            row = make_row(params, figures["time"] / 1e6, [each / 1e6 for each in figures["samples"]], 0.0, 0.0)
            row.update(self._observed.of(params))
            try:
                row = process_metrics(row, dict(self._metrics))
                if name not in row:
                    raise ArgumentError(
                        f"the objective '{name}' is no metric that is given, and no observer returns it"
                    )
                return float(row[name])
            except Exception as error:
                self._observed.failure = self._observed.failure or error
                raise

        return compute

    def _hear(self, native: Mapping[str, Any], outcome: str, reason: str, time_ns: float) -> None:
        if self._observed.failure is not None:
            raise self._observed.failure
        params = self._parameters.decode(native)
        median = time_ns / 1e6
        row = make_row(params, median, [median], 0.0, 0.0)
        if not math.isfinite(time_ns):
            self.failed.append(fail(row, outcome, reason))
        if self._cache is not None:
            self._cache.append(self._parameters.key(params), row)
        is_told = not self._given["quiet"] and (math.isfinite(time_ns) or self._given["verbose"])
        if is_told:
            text = ", ".join(f"{name}={value}" for name, value in params.items())
            print(f"{text}, time={median:.4g} ms" if math.isfinite(time_ns) else f"{text}, {outcome}: {reason}")

    def _tune(self) -> Tuple[List[Row], Optional[Row]]:
        try:
            tuned = self._kernel.tune(self._described.context)
        except Error as error:
            if self._observed.failure is not None:
                raise self._observed.failure from None
            if not self._found or not isinstance(error, TuningFailedError):
                raise
            warnings.warn(f"of what the cache file lacks nothing could be measured: {error}", stacklevel=4)
            return [], None
        if self._observed.failure is not None:
            raise self._observed.failure
        rows = rows_of(
            tuned.trials(False), self._parameters, self._metrics, self._observed,
            dict(tuned.best) if self._is_time() else None,
        )
        won = self._parameters.decode(dict(tuned.best))
        winner = next((row for row in rows if all(row[name] == value for name, value in won.items())), None)
        is_least = winner is not None and winner["time"] == min(row["time"] for row in rows)
        return rows, winner if is_least else None
