# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The limits of a strategy of one's own."""

from __future__ import annotations

import math
import time
from datetime import timedelta
from typing import Any, Optional


class StopCriterionReached(Exception):
    """The limits of a search are reached: a strategy ends where it catches this, or lets it pass."""


class TuningBudget:
    """Limits of the time, in seconds, and of the number of evaluations; None for no limit."""

    def __init__(self, time_limit: Optional[float] = None, max_fevals: Optional[int] = None) -> None:
        for name, limit in (("max_fevals", max_fevals), ("time_limit", time_limit)):
            if limit is not None and limit <= 0:
                raise ValueError(f"{name} is {limit}, and has to be above 0")
        self.time_limit, self.max_fevals = time_limit, max_fevals
        self.num_fevals = 0
        self._begin, self._extra = time.perf_counter(), 0.0

    def add_evaluations(self, n: int = 1) -> None:
        """Counts evaluations."""
        self.num_fevals += n

    def add_time(self, seconds: float = 0, milliseconds: float = 0) -> None:
        """Adds the time that a simulated evaluation would have taken."""
        self._extra += seconds + milliseconds / 1e3

    def get_time_spent(self) -> timedelta:
        """The time so far, with that of simulated evaluations."""
        return timedelta(seconds=time.perf_counter() - self._begin + self._extra)

    def get_time_remaining(self) -> timedelta:
        """The time that is left."""
        if self.time_limit is None:
            return timedelta.max
        return max(timedelta(0), timedelta(seconds=self.time_limit) - self.get_time_spent())

    def get_evaluations_spent(self) -> int:
        """The number of evaluations so far."""
        return self.num_fevals

    def get_evaluations_remaining(self) -> float:
        """The number of evaluations that are left; infinity without a limit."""
        return math.inf if self.max_fevals is None else max(0, self.max_fevals - self.num_fevals)

    def get_fraction_consumed(self) -> float:
        """The part of the limits that is used, at most 1."""
        parts = [self.get_time_spent().total_seconds() / self.time_limit if self.time_limit else 0.0, self.num_fevals / (self.max_fevals or math.inf)]
        return min(1.0, max(parts))

    def is_done(self) -> bool:
        """True if one of the limits is reached."""
        return self.get_fraction_consumed() >= 1

    def raise_exception_if_done(self) -> None:
        """Raises StopCriterionReached if one of the limits is reached."""
        if self.is_done():
            raise StopCriterionReached(f"the budget is spent: {self.num_fevals} evaluations")


class Options(dict):
    """A dict whose items are attributes as well."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no option '{name}'") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value
