# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Searches by a strategy that is written in Python."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._errors import ArgumentError, TuningFailedError
from ._budget import Options, StopCriterionReached, TuningBudget
from ._search import Search
from .accuracy import is_tunable, select_all
from .cache import CacheFile
from .objectives import Row, process_metrics
from .searchspace import Searchspace


class _Runner:
    """Measures the configurations that a strategy asks for, each once."""

    def __init__(self, given: Mapping[str, Any], cache: Optional[CacheFile], budget: TuningBudget) -> None:
        self._given, self._cache, self._budget = given, cache, budget
        self._names = list(given["tune_params"])
        self._known: Dict[str, Row] = {}

    def run(self, parameter_space: Sequence[Sequence[Any]], tuning_options: Any = None) -> List[Optional[Row]]:
        """The results of configurations; None for those beyond the budget."""
        return [None if self._budget.is_done() else self._row(dict(zip(self._names, each))) for each in parameter_space]

    def add_strategy_time(self, seconds: float) -> None:
        """The time of a strategy is that of the whole search here."""

    def _row(self, params: Dict[str, Any]) -> Row:
        key = ",".join(str(value) for value in params.values())
        if key in self._known:
            return self._known[key]
        entry = self._cache.entries.get(key) if self._cache is not None else None
        if entry is not None:
            row = dict(entry)
            row = row if "__error__" in row else process_metrics(row, self._given["metrics"])
            if self._given["simulation_mode"]:
                parts = ("compile_time", "verification_time", "benchmark_time")
                self._budget.add_time(milliseconds=sum(row.get(name) or 0.0 for name in parts))
        elif self._given["simulation_mode"]:
            raise ArgumentError(f"the cache file has no configuration {key}")
        else:
            row = self._measure(params)
            if self._cache is not None:
                self._cache.append(key, row)
        self._budget.add_evaluations()
        self._known[key] = row
        return row

    def _measure(self, params: Dict[str, Any]) -> Row:
        alone = {
            **self._given, "tune_params": {name: [value] for name, value in params.items()}, "restrictions": None,
            "strategy": None, "strategy_options": None, "cache": None, "seed": None,
            "arguments": select_all(self._given["arguments"], params),
        }
        if is_tunable(alone["answer"]):
            alone["answer"] = alone["answer"].select_for_configuration(params)
        search = Search(alone, self._given["wanted"])
        try:
            return search.run()[0][0]
        except TuningFailedError:
            if not search.failed:
                raise
            return search.failed[0]

    def rows(self) -> Dict[str, Row]:
        """All results by their keys."""
        return self._known


def is_own(strategy: Any) -> bool:
    """True for an object or a module with a function tune."""
    return not isinstance(strategy, str) and callable(getattr(strategy, "tune", None))


def search_by(
    given: Mapping[str, Any], cache: Optional[CacheFile], max_threads: int
) -> Tuple[List[Row], Dict[str, Row]]:
    """The results in the order of the strategy, one for each evaluation, and all of them by their keys."""
    options = Options(given["strategy_options"] or {})
    names = list(given["block_size_names"] or ("block_size_x", "block_size_y", "block_size_z"))
    space = Searchspace(given["tune_params"], given["restrictions"], max_threads, names)
    most = min(options.get("max_fevals") or space.size, space.size)
    budget = TuningBudget(options.get("time_limit"), most or None)
    runner = _Runner(given, cache, budget)
    tuning = Options(
        given, strategy_options=options, budget=budget, objective=[name for name, _ in given["wanted"]],
        objective_higher_is_better=[higher for _, higher in given["wanted"]], cache={}, cachefile=None,
    )
    try:
        found = given["strategy"].tune(space, runner, tuning)
    except StopCriterionReached:
        found = None
    rows = [row for row in found or [] if row] or list(runner.rows().values())
    return rows, runner.rows()
