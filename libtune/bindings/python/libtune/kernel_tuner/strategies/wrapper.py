# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Strategies of one's own as functions of a cost and a space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, List

from .._budget import StopCriterionReached
from ..objectives import Row
from ..searchspace import Searchspace
from .common import CostFunc


class OptAlg(ABC):
    """Derive a strategy from this, and give OptAlgWrapper(strategy()) to tune_kernel."""

    def __init__(self) -> None:
        self.costfunc_kwargs = {"scaling": False, "snap": False}

    @abstractmethod
    def __call__(self, func: CostFunc, searchspace: Searchspace) -> Any:
        """Searches for the least func(values). func.budget_spent_fraction is the used part of the budget."""


class OptAlgWrapper:
    """A strategy for tune_kernel of an object that is called with a cost and a space."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer

    def tune(self, searchspace: Searchspace, runner: Any, tuning_options: Any) -> List[Row]:
        """The results of a search."""
        given = getattr(self.optimizer, "costfunc_kwargs", {"scaling": False, "snap": False})
        cost = CostFunc(searchspace, tuning_options, runner, **given)
        try:
            self.optimizer(cost, searchspace)
        except StopCriterionReached as reached:
            if tuning_options.verbose:
                print(reached)
        return cost.results
