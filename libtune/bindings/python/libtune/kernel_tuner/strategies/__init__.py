# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Names of strategies and their options, as those of libtune."""

from __future__ import annotations

import math
import warnings
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ..._errors import ArgumentError
from ..parameters import Parameters

# Of the same kind here.
_SAME = {
    "brute_force": "exhaustive",
    "random_sample": "random",
    "genetic_algorithm": "genetic",
    "greedy_ils": "local",
    "bayes_opt": "model",
}
# The nearest one here.
_NEAREST = {
    "mls": "local",
    "greedy_mls": "local",
    "ordered_greedy_mls": "local",
    "minimize": "local",
    "basinhopping": "local",
    "dual_annealing": "local",
    "simulated_annealing": "local",
    "diff_evo": "genetic",
    "pso": "genetic",
    "firefly_algorithm": "genetic",
    "nsga2": "genetic",
    "nsga3": "genetic",
    "skopt": "model",
    "pyatf_strategies": "model",
    "hybrid_vndx": "model",
    "adaptive_tabu_greywolf": "model",
}
_OWN = ("exhaustive", "random", "local", "genetic", "model", "near")
_MEANT = ("max_fevals", "time_limit", "fraction", "seed", "x0")

strategy_map = {**_SAME, **_NEAREST}


def __getattr__(name: str) -> str:
    """kernel_tuner.strategies.minimize is a strategy's name here."""
    if name in strategy_map:
        return name
    raise AttributeError(f"there is no strategy '{name}'")


def find_strategy(given: Any) -> Optional[str]:
    """libtune's name of a strategy; None for the default. Warns where it is another one."""
    if given is None:
        return "exhaustive"
    if not isinstance(given, str):
        raise ArgumentError(
            f"strategy is {given!r}: it is a name, or an object with a function tune (libtune.kernel_tuner.strategies."
            "wrapper); a faster one is written in C++ (docs/strategies.md)"
        )
    if given in _OWN or given in _SAME:
        return _SAME.get(given, given)
    if given not in _NEAREST:
        raise ArgumentError(f"there is no strategy '{given}'; there are {', '.join((*strategy_map, *_OWN))}")
    warnings.warn(f"the strategy '{given}' is '{_NEAREST[given]}' here, the nearest one of libtune", stacklevel=4)
    return _NEAREST[given]


def read_options(
    given: Optional[Mapping[str, Any]], strategy: Optional[str], seed: Optional[int]
) -> Dict[str, Any]:
    """The options that mean something here. Warns once of the others."""
    options = dict(given or {})
    if seed is not None:
        options.setdefault("seed", seed)
    left_out = [name for name in options if name not in _MEANT]
    if left_out:
        warnings.warn(
            f"strategy_options: the strategy '{strategy}' has no {', '.join(left_out)}, which "
            f"{'is' if len(left_out) == 1 else 'are'} left out",
            stacklevel=4,
        )
    for name in ("max_fevals", "time_limit"):
        if options.get(name) is not None and options[name] <= 0:
            raise ArgumentError(f"{name} is {options[name]}, and has to be above 0")
    return {name: value for name, value in options.items() if name in _MEANT and value is not None}


def begin_with(options: Mapping[str, Any], parameters: Parameters, core: Any) -> None:
    """Lets a search begin with the configuration x0: a list of values, or a dict."""
    given = options.get("x0")
    if given is None:
        return
    values = dict(given) if isinstance(given, Mapping) else dict(zip(parameters.names, given))
    if set(values) != set(parameters.names):
        raise ArgumentError(f"x0 is {given!r}, and a value is needed for each of {', '.join(parameters.names)}")
    core.begin_with(parameters.encode(values))


def most_trials(options: Mapping[str, Any], size: int) -> Optional[int]:
    """The limit of the number of configurations; None without one."""
    counts = []
    if "max_fevals" in options:
        counts.append(int(options["max_fevals"]))
    if "fraction" in options:
        if not 0 < options["fraction"] <= 1:
            raise ArgumentError(f"fraction is {options['fraction']}, and lies above 0, at most at 1")
        counts.append(max(1, math.ceil(size * options["fraction"])))
    return min(counts, default=None)


def limits(options: Mapping[str, Any], size: int) -> Tuple[Optional[str], List[Tuple[str, str]]]:
    """The budget of a search over so many configurations, and other options."""
    most = most_trials(options, size)
    texts = [f"{most} trials"] if most is not None else []
    if "time_limit" in options:
        texts.append(f"{max(1, round(1000 * float(options['time_limit'])))} ms")
    others = [("seed", str(int(options["seed"])))] if "seed" in options else []
    return ", ".join(texts) or None, others
