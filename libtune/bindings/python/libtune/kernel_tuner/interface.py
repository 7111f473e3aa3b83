# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""tune_kernel and run_kernel with the arguments of Kernel Tuner 1.5.0."""

from __future__ import annotations

import logging
import os
import time
from datetime import datetime
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .._errors import ArgumentError
from .._tuning import _read
from ._description import Description, as_given, describe, find_device, is_array, parameters_of
from ._own_strategy import is_own, search_by
from ._parts import has_tunables, search_parts
from ._results import find_best, spread, total_times
from ._search import Search
from .accuracy import select_all
from .cache import CacheFile, read_cache
from .geometry import check_block_size_params_names_list, default_block_size_names
from .objectives import Row, check_metrics, read_objectives
from .parameters import Parameters, check_tune_params_list
from .restrictions import read_restrictions
from .simulation import Simulation, simulated_environment
from .sources import Sources
from .strategies import find_strategy, read_options
from .util import get_config_string

Source = Union[str, "os.PathLike[str]", Callable[..., str], Sequence[Any]]


def _start_log(kernel_name: str, log: Any) -> None:
    if log:
        name = kernel_name + datetime.now().strftime("%Y%m%d-%H:%M:%S") + ".log"
        logging.basicConfig(filename=name, level=log)


def run_kernel(
    kernel_name: str,
    kernel_source: Source,
    problem_size: Any,
    arguments: Sequence[Any],
    params: Mapping[str, Any],
    grid_div_x: Any = None,
    grid_div_y: Any = None,
    grid_div_z: Any = None,
    lang: Optional[str] = None,
    device: int = 0,
    platform: int = 0,
    smem_args: Optional[Mapping[str, Any]] = None,
    cmem_args: Optional[Mapping[str, Any]] = None,
    texmem_args: Optional[Mapping[str, Any]] = None,
    compiler: Optional[str] = None,
    compiler_options: Optional[Sequence[str]] = None,
    defines: Optional[Mapping[str, Any]] = None,
    block_size_names: Optional[List[str]] = None,
    quiet: bool = False,
    log: Any = None,
) -> List[Any]:
    """Compiles a kernel with these parameters, runs it once, and returns all arguments, arrays as numpy arrays (those of
    PyTorch as tensors of the host). The arguments that were given do not change."""
    given = dict(locals())
    _start_log(kernel_name, log)
    given["arguments"] = select_all(arguments, params)
    described = Description(given, parameters_of(params))
    native = described.parameters.encode(params)
    results = described.kernel._core.run(described.context._core, native)
    return [
        _like(as_given(each, given), given) for each, given in zip(_read(results.read, described.kernel._arguments), described.arguments)
    ]


def _like(result: Any, given: Any) -> Any:
    if type(given).__module__.split(".")[0] != "torch" or not is_array(given):
        return result
    import torch

    return torch.from_numpy(result)


def tune_kernel(
    kernel_name: str,
    kernel_source: Source,
    problem_size: Any,
    arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]],
    grid_div_x: Any = None,
    grid_div_y: Any = None,
    grid_div_z: Any = None,
    restrictions: Any = None,
    answer: Optional[Sequence[Any]] = None,
    atol: float = 1e-6,
    verify: Optional[Callable[..., Any]] = None,
    verbose: bool = False,
    lang: Optional[str] = None,
    device: int = 0,
    platform: int = 0,
    smem_args: Optional[Mapping[str, Any]] = None,
    cmem_args: Optional[Mapping[str, Any]] = None,
    texmem_args: Optional[Mapping[str, Any]] = None,
    compiler: Optional[str] = None,
    compiler_options: Optional[Sequence[str]] = None,
    defines: Optional[Mapping[str, Any]] = None,
    log: Any = None,
    iterations: int = 7,
    block_size_names: Optional[List[str]] = None,
    quiet: bool = False,
    strategy: Any = None,
    strategy_options: Optional[Mapping[str, Any]] = None,
    cache: Any = None,
    metrics: Optional[Mapping[str, Union[str, Callable[[Dict[str, Any]], float]]]] = None,
    simulation_mode: Optional[bool] = None,
    parallel: Any = None,
    observers: Optional[Sequence[Any]] = None,
    objective: Any = None,
    objective_higher_is_better: Any = None,
    objectives: Optional[Mapping[str, bool]] = None,
    seed: Optional[int] = None,
) -> Tuple[List[Row], Dict[str, Any]]:
    """Tunes a kernel as kernel_tuner.tune_kernel does, and returns its results and environment: a dict for
    each configuration, with the parameters, "time" (ms), "times" (ms), what observers measured and the metrics; and a
    dict with "best_config", which is one of the results, and the device. docs/from-kernel-tuner.md has all arguments.

    A configuration that failed has the time inf, an "__error__", an "outcome" and a "reason".
    """
    given = dict(locals())
    begin = time.perf_counter()
    _start_log(kernel_name, log)
    wanted = read_objectives(objective, objective_higher_is_better, objectives)
    given["metrics"] = check_metrics(metrics, list(tune_params))
    check_tune_params_list(tune_params, observers, bool(simulation_mode))
    given["wanted"] = wanted
    if not simulation_mode:
        names = check_block_size_params_names_list(block_size_names, tune_params)
        given["block_size_names"] = names if block_size_names is not None else _by_case(names)
    if is_own(strategy):
        results, environment = _search_by_own(given)
    elif simulation_mode:
        results, environment = _simulate(given, wanted)
    elif has_tunables(given):
        results, environment = search_parts(given, wanted)
    else:
        results, environment = Search(given, wanted).run()
    if results:
        environment["best_config"] = environment.pop("winner", None) or find_best(results, wanted)
    whole = 1e3 * (time.perf_counter() - begin)
    environment.update(total_times(results, whole, bool(simulation_mode)))
    if not quiet:
        _tell(environment.get("best_config"), [*tune_params, *(name for name, _ in wanted), *given["metrics"]])
    return results, environment


def _tell(best: Any, keys: Sequence[str]) -> None:
    for row in best if isinstance(best, list) else [best] if best else []:
        print(f"best: {get_config_string(row, keys)}")
    if not best:
        print("there is no result")


def _by_case(names: Optional[List[str]]) -> Optional[List[str]]:
    """Names that differ from the usual ones in case, each at its place."""
    if not names:
        return None
    alike = {name.lower(): name for name in names}
    return [alike.get(usual, usual) for usual in default_block_size_names]


def _search_by_own(given: Mapping[str, Any]) -> Tuple[List[Row], Dict[str, Any]]:
    """By a strategy that is written in Python."""
    environment: Dict[str, Any] = {}
    device_name, most = None, 1024
    if not given["simulation_mode"]:
        chosen = find_device(Sources(given["kernel_source"], given["lang"]).language, given["device"], given["platform"])
        environment, device_name, most = describe(chosen, given), chosen.name, chosen.max_work_group_size
    file = _open_cache(given, device_name) if given["cache"] else None
    if file is not None and device_name is not None:
        file.begin()
    rows, by_key = search_by(given, file, most)
    if file is not None and device_name is not None:
        file.finish(by_key)
    return rows, environment or simulated_environment(_require(file), rows)


def _require(file: Optional[CacheFile]) -> CacheFile:
    if file is None:
        raise ArgumentError("simulation_mode needs the name of a cache file: cache")
    return file


def _open_cache(given: Mapping[str, Any], device_name: Optional[str]) -> CacheFile:
    names = [name for name, _ in given["wanted"]]
    return CacheFile.open(
        given["cache"], given["kernel_name"], given["problem_size"], given["tune_params"], names, device_name
    )


def _simulate(given: Mapping[str, Any], objectives: Sequence[Tuple[str, bool]]) -> Tuple[List[Row], Dict[str, Any]]:
    begin = time.perf_counter()
    if given["parallel"]:
        raise ArgumentError("parallel and simulation_mode exclude each other")
    file = _require(_open_cache(given, None) if given["cache"] else None)
    strategy = find_strategy(given["strategy"])
    options = read_options(given["strategy_options"], strategy, given["seed"])
    parameters = Parameters(given["tune_params"])
    restrictions = read_restrictions(given["restrictions"], parameters.names)
    simulation = Simulation(file, parameters, restrictions, given["metrics"], objectives)
    between = time.perf_counter()
    rows = simulation.run(strategy or "exhaustive", options)
    environment = simulated_environment(file, rows)
    spread(rows, 1e3 * (time.perf_counter() - between), 1e3 * (between - begin))
    return rows, environment


def tune_cache(cache_path: Any, restrictions: Optional[Sequence[Any]] = None, **kwargs: Any) -> Tuple[List[Row], Dict[str, Any]]:
    """Simulates a tuning over a cache file, of which it has the kernel and the space."""
    if restrictions is not None and not isinstance(restrictions, list):
        raise ValueError("restrictions of tune_cache are a list")
    found = read_cache(cache_path, open_cache=False)
    if isinstance(found["problem_size"], str):
        raise ValueError("the problem size of the cache was a function: give problem_size")
    names = found["tune_params_keys"]
    valid = {",".join(str(row[name]) for name in names) for row in found["cache"].values() if "__error__" not in row}
    allowed = (lambda *values: ",".join(map(str, values)) in valid, names)
    size = found["problem_size"]
    arguments: Dict[str, Any] = {
        "kernel_name": found["kernel_name"],
        "kernel_source": "",
        "problem_size": size if isinstance(size, int) else tuple(size),
        "arguments": [],
        "tune_params": found["tune_params"],
        "objective": found["objective"] if isinstance(found.get("objective"), str) else None,
    }
    arguments.update(kwargs)
    return tune_kernel(**arguments, cache=cache_path, restrictions=[allowed, *(restrictions or [])], simulation_mode=True)
