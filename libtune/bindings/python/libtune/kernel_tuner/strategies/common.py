# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The cost of configurations, for strategies of one's own."""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Sequence, Tuple

import numpy

from .._budget import StopCriterionReached
from ..objectives import InvalidConfig, Row, get_result_cost
from ..searchspace import Searchspace


class CostFunc:
    """Measures configurations: func(values) is the cost, less is better, and the greatest float for one that fails.

    snap: takes the nearest candidate of each number. scaling: numbers from 0 to 1 stand for the candidates in their order.
    Raises StopCriterionReached when the budget is spent.
    """

    def __init__(
        self, searchspace: Searchspace, tuning_options: Any, runner: Any, *, scaling: bool = False, snap: bool = True,
        **_: Any,
    ) -> None:
        self.searchspace, self.tuning_options, self.runner = searchspace, tuning_options, runner
        self.scaling, self.snap = scaling, snap
        self.results: List[Row] = []
        self.unique_results: Dict[Tuple[Any, ...], Row] = {}
        self.budget_spent_fraction = 0.0

    def __call__(self, x: Sequence[Any], check_restrictions: bool = True) -> Any:
        return self.eval_all([x], check_restrictions)[0]

    eval = __call__

    def eval_all(self, xs: Sequence[Sequence[Any]], check_restrictions: bool = True) -> List[Any]:
        """The costs of several configurations; a list for each where there are several objectives."""
        budget = self.tuning_options.budget
        budget.raise_exception_if_done()
        made = []
        for x in xs:
            row = self._row(self._configuration(x), check_restrictions)
            costs = get_result_cost(row, self.tuning_options.objective, self.tuning_options.objective_higher_is_better)
            made.append(costs[0] if len(costs) == 1 else costs)
        self.budget_spent_fraction = budget.get_fraction_consumed()
        return made

    def _row(self, configuration: Tuple[Any, ...], check_restrictions: bool) -> Row:
        if check_restrictions and not self.searchspace.is_param_config_valid(configuration):
            return {**dict(zip(self.searchspace.param_names, configuration)), "__error__": InvalidConfig()}
        row = self.runner.run([configuration], self.tuning_options)[0]
        if row is None:
            raise StopCriterionReached("the budget is spent")
        self.unique_results.setdefault(configuration, row)
        self.results.append(row)
        return row

    def _configuration(self, x: Sequence[Any]) -> Tuple[Any, ...]:
        if not self.snap:
            return tuple(x)
        made = []
        for value, candidates in zip(x, self.searchspace.tune_params.values()):
            if self.scaling:
                made.append(candidates[int(numpy.clip(float(value) * len(candidates), 0, len(candidates) - 1))])
            elif isinstance(value, str) or value in candidates:
                made.append(value)
            else:
                numeric = [each for each in candidates if isinstance(each, (int, float))]
                made.append(min(numeric or candidates, key=lambda each: abs(each - value) if numeric else 0))
        return tuple(made)

    def get_results(self) -> List[Row]:
        """All results, in their order."""
        return self.results

    def get_num_unique_results(self) -> int:
        """The number of different configurations."""
        return len(self.unique_results)

    def get_bounds(self) -> List[Tuple[float, float]]:
        """The least and the greatest number for each parameter."""
        if self.scaling:
            return [(0.0, 1.0)] * len(self.searchspace.param_names)
        numbers = [[v for v in values if isinstance(v, (int, float))] for values in self.searchspace.tune_params.values()]
        return [(min(each, default=-sys.float_info.max), max(each, default=sys.float_info.max)) for each in numbers]

    def get_start_pos(self) -> List[Any]:
        """x0, or any configuration."""
        given = self.tuning_options.strategy_options.get("x0")
        return list(given if given is not None else self.searchspace.get_random_sample(1)[0])
