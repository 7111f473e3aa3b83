# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Searches whose arguments depend on parameters: one for each value of these."""

from __future__ import annotations

import itertools
import math
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._errors import TuningFailedError
from ._search import Search
from .accuracy import is_tunable, parameters_read, select_all
from .objectives import Row


def has_tunables(given: Mapping[str, Any]) -> bool:
    """True if an argument, or the answer, depends on parameters."""
    return is_tunable(given["answer"]) or any(map(is_tunable, given["arguments"]))


def search_parts(given: Mapping[str, Any], wanted: Sequence[Tuple[str, bool]]) -> Tuple[List[Row], Dict[str, Any]]:
    """The results of all parts, which share the limits."""
    params = given["tune_params"]
    read = parameters_read([*given["arguments"], given["answer"]], list(params))
    names = [name for name in params if name in read]
    choices = list(itertools.product(*(params[name] for name in names)))
    options = dict(given["strategy_options"] or {})
    if options.get("time_limit"):
        options["time_limit"] /= len(choices)
    rows: List[Row] = []
    environment: Dict[str, Any] = {}
    failure: Optional[TuningFailedError] = None
    for place, values in enumerate(choices):
        left = len(choices) - place
        if options.get("max_fevals"):
            options["max_fevals"] = math.ceil((given["strategy_options"]["max_fevals"] - len(rows)) / left)
            if options["max_fevals"] < 1:
                break
        search = Search(_part(given, dict(zip(names, values)), options), wanted)
        try:
            found, environment = search.run()
        except TuningFailedError as error:
            found, failure, environment = search.failed, error, search.environment()
        rows += [row for row in found if row not in rows]
    if failure is not None and all("__error__" in row for row in rows):
        raise failure
    environment.pop("winner", None)
    return rows, environment


def _part(given: Mapping[str, Any], chosen: Mapping[str, Any], options: Mapping[str, Any]) -> Dict[str, Any]:
    answer = given["answer"]
    return {
        **given,
        "arguments": select_all(given["arguments"], chosen),
        "answer": answer.select_for_configuration(chosen) if is_tunable(answer) else answer,
        "tune_params": {**given["tune_params"], **{name: [value] for name, value in chosen.items()}},
        "whole_space": given["tune_params"],
        "strategy_options": options or None,
    }
