# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""tune_kernel and run_kernel with the arguments of Kernel Tuner, so that its scripts port line by line.

What is left out raises an error or a warning that says what to do; docs/python.md has the list.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from ._arrays import asarray, is_on_device, numpy
from ._device import Context, Device, devices, select_device
from ._errors import ArgumentError
from ._tuning import Configuration, Kernel, inout

_STRATEGIES = {
    "brute_force": "exhaustive",
    "random_sample": "random",
    "genetic_algorithm": "genetic",
    "greedy_ils": "local",
    "greedy_mls": "local",
    "mls": "local",
    "ordered_greedy_mls": "local",
    "bayes_opt": "model",
}
_BLOCK_SIZES = ("block_size_x", "block_size_y", "block_size_z")

_COLUMNS = ("time", "times", "outcome", "reason")  # columns of results beside parameters and metrics

_contexts: Dict[Tuple[str, int], Context] = {}


def _device_of(lang: Optional[str], device: int, platform: int) -> Device:
    if lang is None:
        return select_device() if device == 0 else devices()[device]
    backend = {"cuda": "CUDA", "cupy": "CUDA", "nvcuda": "CUDA", "opencl": "OpenCL"}.get(lang.lower())
    if backend is None:
        raise ArgumentError(f"libtune has no language '{lang}': it tunes CUDA and OpenCL")
    fitting = [each for each in devices() if each.backend == backend]
    if backend == "OpenCL":
        platforms = list(dict.fromkeys(each.platform for each in fitting))
        if platform < len(platforms):
            fitting = [each for each in fitting if each.platform == platforms[platform]]
    if device >= len(fitting):
        raise ArgumentError(f"there is no {backend} device {device}; there are {len(fitting)}")
    return fitting[device]


def _context_of(lang: Optional[str], device: int, platform: int) -> Context:
    chosen = _device_of(lang, device, platform)
    name = (chosen.backend + chosen.platform + chosen.name + chosen.uuid, device)
    if name not in _contexts:
        _contexts[name] = Context(chosen)
    return _contexts[name]


def _source_of(given: Union[str, Callable[..., str]]) -> Union[str, Callable[[Configuration], str]]:
    """A text, the contents of a file of this name, or a function."""
    if callable(given):
        return given
    if "\n" not in given and len(given) < 4096 and os.path.isfile(given):
        with open(given, encoding="utf-8") as file:
            return file.read()
    return given


def _expressions(given: Any, what: str) -> List[str]:
    if callable(given):
        raise ArgumentError(
            f"{what} is a function: write it as expressions over the parameters, such as "
            "'block_size_x * tile_size_x'"
        )
    items = [given] if isinstance(given, (str, int)) or hasattr(given, "dtype") else list(given)
    return [str(item) for item in items]


def _describe(
    *,
    kernel_name: str,
    kernel_source: Union[str, Callable[..., str]],
    problem_size: Any,
    arguments: Sequence[Any],
    grid_div_x: Any,
    grid_div_y: Any,
    grid_div_z: Any,
    lang: Optional[str],
    device: int,
    platform: int,
    smem_args: Optional[Mapping[str, Any]],
    cmem_args: Optional[Mapping[str, Any]],
    texmem_args: Optional[Mapping[str, Any]],
    compiler_options: Optional[Sequence[str]],
    defines: Optional[Mapping[str, Any]],
    block_size_names: Optional[Sequence[str]],
    **others: Any,
) -> Tuple[Context, Kernel]:
    """The kernel that the arguments of run_kernel or tune_kernel describe, and where it runs. The others are theirs."""
    context = _context_of(lang, device, platform)
    if texmem_args:
        raise ArgumentError("texmem_args: textures are arguments of libtune's C++ interface only")
    kernel = Kernel(
        kernel_name,
        _source_of(kernel_source),
        _expressions(problem_size, "problem_size"),
        flags=list(compiler_options or ()),
    )
    if block_size_names:
        known = {**(defines or {}), **(others.get("tune_params") or others.get("params") or {})}
        names = list(block_size_names) + list(_BLOCK_SIZES[len(block_size_names) :])
        # Kernel Tuner's scripts may name extents that they do not tune, but at least one that they tune.
        if any(name in known for name in block_size_names):
            names = [name if name in known else usual for name, usual in zip(names, _BLOCK_SIZES)]
        kernel.work_group(*names)
    for axis, grid in enumerate((grid_div_x, grid_div_y, grid_div_z)):
        if grid is not None:
            kernel.divide_grid(axis, _expressions(grid, f"grid_div_{'xyz'[axis]}"))
    for name, text in (defines or {}).items():
        if callable(text):
            raise ArgumentError(f"the macro '{name}' is a function: make the source by a function instead")
        kernel.define(name, text)
    if smem_args:
        kernel.local_memory(_expressions(smem_args["size"], "smem_args")[0])
    for name, values in (cmem_args or {}).items():
        kernel.constant(name, values)
    for argument in arguments:
        if is_on_device(argument):
            argument = asarray(argument, context)
        is_array = getattr(argument, "shape", ()) not in ((), None)
        kernel.arguments(inout(argument) if is_array else argument)
    return context, kernel


def run_kernel(
    kernel_name: str,
    kernel_source: Union[str, Callable[..., str]],
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
    block_size_names: Optional[Sequence[str]] = None,
    quiet: bool = False,
    log: Any = None,
) -> List[Any]:
    """Compiles a kernel with these parameters, runs it once, and returns all arguments, arrays as numpy arrays.
    The arguments that were given do not change."""
    context, kernel = _describe(**locals())
    for name, value in params.items():
        kernel.parameter(name, [value])
    return kernel.run(context, **dict(params))


def _budget(options: Mapping[str, Any]) -> Optional[str]:
    limits = []
    for name, value in options.items():
        if name == "max_fevals":
            limits.append(f"{int(value)} trials")
        elif name == "time_limit":
            limits.append(f"{max(1, math.ceil(value))} s")
        else:
            warnings.warn(f"strategy_options: libtune has no '{name}', which is left out", stacklevel=4)
    return ", ".join(limits) or None


def _metric_name(name: str) -> str:
    """A name as libtune's metrics have them."""
    made = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
    return made if made and made[0].isalpha() else "metric_" + made


def _require_distinct(parameters: Iterable[str], metrics: Iterable[str]) -> None:
    """Raises where two figures of a result would have one name."""
    taken = {name: "a figure of each result" for name in _COLUMNS}
    for names, kind in ((parameters, "a parameter"), (metrics, "a metric")):
        for name in names:
            if name in taken:
                raise ArgumentError(f"{kind} is called '{name}', which is {taken[name]} as well: call it something else")
            taken[name] = kind
    made: Dict[str, str] = {}
    for name in metrics:
        other = made.setdefault(_metric_name(name), name)
        if other != name:
            raise ArgumentError(f"the metrics '{other}' and '{name}' are both '{_metric_name(name)}' for libtune")


def _in_milliseconds(formula: str) -> str:
    """A formula of Kernel Tuner, whose time is in milliseconds, for libtune, whose time is in nanoseconds."""
    return re.sub(r"\btime\b", "(time / 1000000.0)", formula)


def tune_kernel(
    kernel_name: str,
    kernel_source: Union[str, Callable[..., str]],
    problem_size: Any,
    arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]],
    grid_div_x: Any = None,
    grid_div_y: Any = None,
    grid_div_z: Any = None,
    restrictions: Any = None,
    answer: Optional[Sequence[Any]] = None,
    atol: float = 1e-6,
    verify: Optional[Callable[..., bool]] = None,
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
    block_size_names: Optional[Sequence[str]] = None,
    quiet: bool = False,
    strategy: Optional[str] = None,
    strategy_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[str] = None,
    metrics: Optional[Mapping[str, Union[str, Callable[[Dict[str, Any]], float]]]] = None,
    simulation_mode: bool = False,
    observers: Optional[Sequence[Any]] = None,
    objective: str = "time",
    objective_higher_is_better: Optional[bool] = None,
) -> Tuple[List[Dict[str, Any]], Dict[str, Any]]:
    """Tunes a kernel as kernel_tuner.tune_kernel does, and returns its results and environment: a dict for
    each configuration, with the parameters, "time" (the median, ms), "times" (ms) and the metrics; and a dict with
    "best_config" and the device. A configuration that failed has the time inf, an "outcome" and a "reason". "best_config"
    has won a comparison in turns with the others; on an unsteady device another row may have the least "time".

    iterations is not used: each configuration runs as often as the comparison needs.
    """
    _require_distinct(tune_params, metrics or {})
    if simulation_mode:
        raise ArgumentError("simulation_mode: libtune measures on devices; see tunedb import")
    for name, given in (("cache", cache), ("observers", observers)):
        if given:
            warnings.warn(f"{name} is left out: see docs/python.md for what does the same", stacklevel=2)
    context, kernel = _describe(**locals())
    kernel.parameters(tune_params)
    if restrictions is not None:
        for condition in [restrictions] if callable(restrictions) else restrictions:
            kernel.restrict(condition)
    for place, expected in enumerate(answer or ()):
        if expected is not None:
            is_integer = numpy().asarray(expected).dtype.kind in "iu"
            kernel.answer(place, expected, atol=0.0 if is_integer and atol < 1 else atol)
    if verify is not None:
        wanted = list(answer) if answer is not None else [None] * len(arguments)
        kernel.verify(lambda found: verify(wanted, found, atol=atol))

    names = {}
    for name, formula in (metrics or {}).items():
        names[name] = _metric_name(name)
        if isinstance(formula, str):
            kernel.metric(names[name], _in_milliseconds(formula))
    if objective != "time":
        if objective not in names or not isinstance((metrics or {})[objective], str):
            raise ArgumentError(f"the objective '{objective}' is no metric that is given as a formula")
        if objective_higher_is_better is None:
            raise ArgumentError(f"say whether the objective '{objective}' is the better the higher it is")
        kernel.option(objective=("max " if objective_higher_is_better else "min ") + names[objective])
    if strategy is not None:
        kernel.option(strategy=_STRATEGIES.get(strategy, strategy))
    budget = _budget(strategy_options or {})
    if budget is not None:
        kernel.option(budget=budget)
    if not quiet:
        kernel.on_trial(_print_trial)

    tuned = kernel.tune(context)
    results = _rows(tuned.trials(False), list(tune_params), names, metrics or {})
    best = next((row for row in results if all(row[n] == tuned.best[n] for n in tune_params)), None)
    environment = {
        "device_name": context.device.name,
        "platform": context.device.platform,
        "driver_version": context.device.driver_version,
        "best_config": best if best is not None else dict(tuned.best),
    }
    if not quiet:
        print(f"best: {environment['best_config']}")
    return results, environment


def _print_trial(configuration: Configuration, outcome: str, reason: str, time_ns: float) -> None:
    text = ", ".join(f"{name}={value}" for name, value in configuration.items())
    told = f"time={time_ns / 1e6:.4g} ms" if math.isfinite(time_ns) else f"{outcome}: {reason}"
    print(f"{text}, {told}")


def _rows(
    columns: Dict[str, List[Any]],
    parameters: List[str],
    names: Dict[str, str],
    metrics: Mapping[str, Any],
) -> List[Dict[str, Any]]:
    rows = []
    for values in zip(*columns.values()):
        trial = dict(zip(columns, values))
        row: Dict[str, Any] = {}
        for name in parameters:
            row[name] = trial["value_" + name] if "value_" + name in trial else trial[name]
        time = trial["score_ns"]
        unit = 1e6 * trial["level"]  # makes times comparable, even across an interruption of the search
        row["time"] = math.inf if time is None else time / unit
        row["times"] = [sample / unit for sample in trial["samples_ns"]]
        row["outcome"] = trial["outcome"]
        if time is None:
            row["reason"] = trial["message"]
        else:
            for name, formula in metrics.items():
                known = names[name]
                row[name] = formula(row) if callable(formula) else trial.get(known, trial.get("metric_" + known))
        rows.append(row)
    return rows
