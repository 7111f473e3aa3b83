# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Results: a dict for each configuration, as Kernel Tuner gives them."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .objectives import Row, error_of, get_best_config, get_pareto_results, process_metrics
from .parameters import Parameters

_PARTS = ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time")


def make_row(
    params: Mapping[str, Any], time: float, times: Sequence[float], compile_time: float, elapsed: float
) -> Row:
    """A result of a configuration. All times in ms."""
    return {
        **params,
        "time": time,
        "times": list(times),
        "compile_time": compile_time,
        "verification_time": 0.0,
        "benchmark_time": max(0.0, elapsed - compile_time),
        "strategy_time": 0.0,
        "framework_time": 0.0,
        "timestamp": str(datetime.now(timezone.utc)),
    }


def fail(row: Row, outcome: str, reason: str) -> Row:
    """The result of a configuration that has no time."""
    row.update({"time": math.inf, "__error__": error_of(outcome), "outcome": outcome, "reason": reason})
    return row


def rows_of(
    columns: Mapping[str, List[Any]],
    parameters: Parameters,
    metrics: Mapping[str, Any],
    observed: Any = None,
    best: Optional[Mapping[str, Any]] = None,
) -> List[Row]:
    """The results of a search, of the columns of Tuned.trials().

    best: the native configuration that won by time. It has won a comparison in turns, so that none of the others has a
        lower "time": where its median is lower, it gets the winner's.
    """
    trials = [dict(zip(columns, values)) for values in zip(*columns.values())]
    winner = find_winner(trials, parameters, best) if best is not None else None
    least = _time(winner) if winner else 0.0
    return [_row(trial, parameters, metrics, observed, least) for trial in trials]


def find_winner(
    trials: Sequence[Mapping[str, Any]], parameters: Parameters, best: Mapping[str, Any]
) -> Optional[Mapping[str, Any]]:
    """The trial that won. Where the device was too unsteady for a comparison, and another one is faster beyond doubt,
    that one."""
    won = next((trial for trial in trials if _native(trial, parameters) == best), None)
    timed = [trial for trial in trials if trial["score_ns"] is not None]
    if won is None or not timed:
        return None
    fastest = min(timed, key=_time)
    bounds = fastest.get("score_upper_ns"), won.get("score_lower_ns")
    is_beyond_doubt = None not in bounds and bounds[0] / fastest["level"] < bounds[1] / won["level"]
    return fastest if is_beyond_doubt else won


def _native(trial: Mapping[str, Any], parameters: Parameters) -> Dict[str, Any]:
    names = [each.native_name for each in parameters.all]
    return {name: trial["value_" + name] if "value_" + name in trial else trial[name] for name in names}


def _time(trial: Mapping[str, Any]) -> float:
    # The level makes times comparable, even across an interruption of the search.
    return math.inf if trial["score_ns"] is None else trial["score_ns"] / (1e6 * trial["level"])


def _row(
    trial: Mapping[str, Any], parameters: Parameters, metrics: Mapping[str, Any], observed: Any, least: float
) -> Row:
    params = parameters.decode(_native(trial, parameters))
    unit = 1e6 * trial["level"]
    row = make_row(
        params,
        max(least, _time(trial)),
        [sample / unit for sample in trial["samples_ns"]],
        trial["preparation_ns"] / 1e6,
        trial["elapsed_ns"] / 1e6,
    )
    if trial["score_ns"] is None:
        return fail(row, trial["outcome"], trial["message"])
    row["outcome"] = trial["outcome"]
    if observed is not None:
        row.update(observed.of(params))
        if observed.counts_registers and trial.get("registers") is not None:
            row["num_regs"] = int(trial["registers"])
    return process_metrics(row, dict(metrics))


def find_best(rows: Sequence[Row], objectives: Sequence[Tuple[str, bool]]) -> Any:
    """The best result, which is one of them; with several objectives those that no other one beats."""
    if len(objectives) > 1:
        return get_pareto_results(rows, [name for name, _ in objectives], [higher for _, higher in objectives])
    return get_best_config(rows, *objectives[0])


def spread(rows: Sequence[Row], strategy_ms: float, framework_ms: float) -> None:
    """Divides the time of a whole search among its results."""
    for row in rows:
        row["strategy_time"] = max(0.0, strategy_ms) / len(rows)
        row["framework_time"] = max(0.0, framework_ms) / len(rows)


def total_times(rows: Sequence[Row], whole_ms: float, is_simulated: bool) -> Dict[str, float]:
    """The sums of the parts of a search, in ms."""
    made = {f"total_{name}": float(sum(row.get(name) or 0.0 for row in rows)) for name in _PARTS}
    spent = [made[f"total_{name}"] for name in (_PARTS[3:] if is_simulated else _PARTS)]
    made["overhead_time"] = max(0.0, whole_ms - sum(spent))
    return made
