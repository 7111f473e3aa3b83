# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Files of the best results, and headers with a target for each device."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .cache import NpEncoder
from .objectives import ErrorConfig, get_objective_defaults
from .sources import get_kernel_string

_VERSION = "1.0"


def _size_text(problem_size: Any) -> str:
    if isinstance(problem_size, str):
        return problem_size
    extents = problem_size if isinstance(problem_size, (list, tuple)) else (problem_size,)
    return "x".join(str(extent) for extent in extents)


def _device_text(name: str) -> str:
    return re.sub("[^0-9a-zA-Z]+", "_", name.strip())


def _best_value(entries: Sequence[Mapping[str, Any]], objective: str, higher: bool) -> float:
    return (max if higher else min)(entry[objective] for entry in entries)


def read_results_file(results_filename: Any) -> Tuple[Dict[str, Any], List[Dict[str, Any]]]:
    """The head and the entries of a file of store_results. Raises ValueError for any other."""
    found = json.loads(Path(results_filename).read_text(encoding="utf-8"))
    if not isinstance(found, dict) or found.get("version_number") != _VERSION:
        raise ValueError(f"{results_filename} is no file of store_results of version {_VERSION}")
    head = {name: value for name, value in found.items() if name != "data"}
    for name in ("kernel_name", "tunable_parameters", "objective"):
        if name not in head:
            raise ValueError(f"{results_filename} has no '{name}'")
    for entry in found.get("data", []):
        missing = {"tunable_parameters", "device_name", "problem_size", head["objective"]} - set(entry)
        missing |= set(head["tunable_parameters"]) - set(entry.get("tunable_parameters", {}))
        if missing:
            raise ValueError(f"an entry of {results_filename} has no {', '.join(sorted(missing))}: {entry}")
    return head, found.get("data", [])


def store_results(
    results_filename: Any,
    kernel_name: str,
    kernel_string: Any,
    tune_params: Mapping[str, Any],
    problem_size: Any,
    results: Sequence[Mapping[str, Any]],
    env: Mapping[str, Any],
    top: float = 3,
    objective: Optional[str] = None,
    objective_higher_is_better: Optional[bool] = None,
) -> None:
    """Stores the results within so many percent of the best in a file, in place of those of the same device and
    problem size."""
    objective, higher = get_objective_defaults(objective, objective_higher_is_better)
    valid = [row for row in results if objective in row and not isinstance(row[objective], (str, ErrorConfig))]
    if not valid:
        raise ValueError(f"no result has the objective '{objective}'")
    best = _best_value(valid, objective, higher)
    bound = best * (1 - top / 100) if higher else best * (1 + top / 100)
    kept = [row for row in valid if (row[objective] > bound if higher else row[objective] < bound)]
    device, size = _device_text(env["device_name"]), _size_text(problem_size)
    head, data = _open(results_filename, kernel_name, kernel_string, list(tune_params), objective, higher)
    data = [entry for entry in data if (entry["device_name"], entry["problem_size"]) != (device, size)]
    for row in kept:
        values = {name: row[name] for name in tune_params}
        data.append({"device_name": device, "problem_size": size, "tunable_parameters": values, objective: row[objective]})
    text = json.dumps({**head, "data": data}, indent="", cls=NpEncoder)
    Path(results_filename).write_text(text, encoding="utf-8")


def _open(
    filename: Any, kernel_name: str, kernel_string: Any, names: List[str], objective: str, higher: bool
) -> Tuple[Dict[str, Any], List[Dict[str, Any]]]:
    """The head and the entries of a file, or the head of a new one."""
    if Path(filename).is_file():
        head, data = read_results_file(filename)
        for name, given in (("kernel_name", kernel_name), ("objective", objective)):
            if head[name] != given:
                raise ValueError(f"{filename} has the {name} '{head[name]}', not '{given}'")
        if not set(names) <= set(head["tunable_parameters"]):
            raise ValueError(f"{filename} has the parameters {head['tunable_parameters']}, not {names}")
        return head, data
    head = {
        "version_number": _VERSION,
        "kernel_name": kernel_name,
        "objective": objective,
        "objective_higher_is_better": higher,
        "tunable_parameters": names,
    }
    if kernel_string and not callable(kernel_string) and not isinstance(kernel_string, (list, tuple)):
        head["kernel_string"] = get_kernel_string(kernel_string)
    return head, []


def _most_common(entries: Sequence[Mapping[str, Any]], objective: str, higher: bool) -> Dict[str, Any]:
    """The configuration that is good in most cases; of several the one with the best sum."""
    cases: Dict[str, List[Mapping[str, Any]]] = defaultdict(list)
    for entry in entries:
        cases[json.dumps(entry["tunable_parameters"])].append(entry)
    most = max(len(each) for each in cases.values())
    frequent = [each for each in cases.values() if len(each) == most]
    best = (max if higher else min)(frequent, key=lambda each: sum(entry[objective] for entry in each))
    return dict(best[0]["tunable_parameters"])


class TuneResults:
    """The results of a file of store_results."""

    def __init__(self, results_filename: Any) -> None:
        if not Path(results_filename).is_file():
            raise ValueError(f"there is no file {results_filename}")
        self.meta, self.data = read_results_file(results_filename)
        if not self.data:
            raise ValueError(f"{results_filename} has no results")
        self.objective = self.meta["objective"]
        self.objective_higher_is_better = bool(self.meta.get("objective_higher_is_better", False))

    def get_best_config(self, gpu_name: str = "default", problem_size: Any = None) -> Dict[str, Any]:
        """The best configuration for a device and a problem size; else one that is good in most cases."""
        name = _device_text(gpu_name)
        of_device = [entry for entry in self.data if entry["device_name"] == name]
        if problem_size:
            of_size = [entry for entry in of_device if entry["problem_size"] == _size_text(problem_size)]
            if of_size:
                best = _best_value(of_size, self.objective, self.objective_higher_is_better)
                return dict(next(entry for entry in of_size if entry[self.objective] == best)["tunable_parameters"])
        return _most_common(of_device or self.data, self.objective, self.objective_higher_is_better)


def create_device_targets(
    header_filename: Any,
    results_filename: Any,
    objective: Optional[str] = None,
    objective_higher_is_better: Optional[bool] = None,
) -> None:
    """Writes a header that defines the parameters for the device of a macro TARGET_<device>, else good ones."""
    results = TuneResults(results_filename)
    devices = sorted({entry["device_name"] for entry in results.data})
    blocks = []
    for place, device in enumerate(devices):
        condition = f"#ifdef TARGET_{device}" if place == 0 else f"#elif defined TARGET_{device}"
        blocks.append(condition + "\n" + _defines(results.get_best_config(device)))
    blocks.append("#else /* default configuration */\n" + _defines(results.get_best_config()))
    text = (
        "/* made of the results of a tuning; changes will be lost */\n#pragma once\n"
        "#ifndef kernel_tuner /* a tuner defines the parameters itself */\n\n"
        + "\n".join(blocks)
        + "#endif\n\n#endif /* kernel_tuner */\n"
    )
    Path(header_filename).write_text(text, encoding="utf-8")


def _defines(params: Mapping[str, Any]) -> str:
    return "".join(f"#define {name} {value}\n" for name, value in params.items())
