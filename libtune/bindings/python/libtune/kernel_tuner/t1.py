# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Problems in the format T1."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy

from .._errors import ArgumentError
from ._expressions import evaluate
from .file_utils import get_input_file, get_t4_metadata, get_t4_results
from .interface import tune_kernel
from .strategies.wrapper import OptAlgWrapper

_TYPES = {
    "bool": "bool", "char": "int8", "int8": "int8", "uint8": "uint8", "short": "int16", "int16": "int16",
    "uint16": "uint16", "int": "int32", "int32": "int32", "uint": "uint32", "uint32": "uint32", "long": "int64",
    "int64": "int64", "uint64": "uint64", "half": "float16", "float": "float32", "float32": "float32",
    "double": "float64", "float64": "float64",
}


def tune_kernel_T1(
    input_filepath: Any,
    cache_filepath: Any = None,
    objective: str = "time",
    objective_higher_is_better: bool = False,
    simulation_mode: bool = False,
    output_T4: bool = True,
    iterations: int = 7,
    device: Optional[int] = None,
    strategy: Optional[str] = None,
    strategy_options: Optional[Mapping[str, Any]] = None,
) -> Tuple[Any, Any]:
    """Tunes the kernel of a T1 file, and returns metadata and results in the format T4, or results and environment."""
    problem = get_input_file(input_filepath)
    kernel = problem["KernelSpecification"]
    chosen, options = _search(problem, strategy, strategy_options)
    params = {each["Name"]: _values(each) for each in problem["ConfigurationSpace"]["TuningParameters"]}
    conditions = [each["Expression"] for each in problem["ConfigurationSpace"].get("Conditions", [])]
    size = _problem_size(kernel)
    if cache_filepath is None and kernel.get("SimulationInput"):
        cache_filepath = Path(kernel["SimulationInput"])
    arguments, constants = _arguments(kernel.get("Arguments", []), params, size) if not simulation_mode else ([], {})
    results, environment = tune_kernel(
        kernel["KernelName"],
        "" if simulation_mode else _source(Path(input_filepath), kernel["KernelFile"]),
        size,
        arguments,
        params,
        **_grid(kernel, params),
        restrictions=conditions,
        lang=kernel.get("Language"),
        device=device if isinstance(device, int) else 0,
        compiler_options=None if simulation_mode else kernel.get("CompilerOptions"),
        cmem_args=constants,
        cache=cache_filepath,
        simulation_mode=simulation_mode,
        iterations=iterations,
        strategy=chosen,
        strategy_options=options,
        objective=objective,
        objective_higher_is_better=objective_higher_is_better,
        quiet=True,
    )
    if output_T4:
        return get_t4_metadata(), get_t4_results(results, params, objective)
    return results, environment


def _search(problem: Mapping[str, Any], strategy: Optional[str], given: Optional[Mapping[str, Any]]) -> Tuple[Any, Dict[str, Any]]:
    options = dict(given or {})
    search = problem.get("Search") or {}
    if strategy is None and search.get("Name"):
        strategy = search["Name"]
        options.update({each["Name"]: each["Value"] for each in search.get("Attributes", [])})
    chosen: Any = strategy
    if "custom_search_method_path" in options:
        chosen = _own_strategy(Path(options.pop("custom_search_method_path")), str(strategy), options)
    for budget in problem.get("Budget", [])[:1]:
        kinds = {"ConfigurationCount": "max_fevals", "TuningDuration": "time_limit"}
        if budget["Type"] not in kinds:
            raise ArgumentError(f"a T1 file has the budget '{budget['Type']}', and libtune knows {', '.join(kinds)}")
        options[kinds[budget["Type"]]] = budget["BudgetValue"]
    return chosen, options


def _own_strategy(path: Path, name: str, options: Mapping[str, Any]) -> OptAlgWrapper:
    """A class of a file, made with the options that are no limits."""
    if not path.is_file():
        raise ArgumentError(f"custom_search_method_path: there is no file {path}")
    module = _import(path)
    if not hasattr(module, name):
        raise ArgumentError(f"{path} has no class '{name}'")
    limits = ("max_fevals", "time_limit", "constraint_aware")
    return OptAlgWrapper(getattr(module, name)(**{key: value for key, value in options.items() if key not in limits}))


def _import(path: Path) -> Any:
    """A file as a module, of the package of its folder if it imports from there."""
    for name in (path.stem, f"{path.parent.name}.{path.stem}"):
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ArgumentError(f"{path} is no file of Python")
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            return module
        except ImportError:
            if name != path.stem:
                raise
    raise AssertionError


def _source(file: Path, name: str) -> Path:
    for folder in (Path(), file.parent, file.parent.parent):
        if (folder / name).is_file():
            return folder / name
    raise ArgumentError(f"the KernelFile '{name}' of {file} is not there, nor beside it, nor above it")


def _values(parameter: Mapping[str, Any]) -> List[Any]:
    values = parameter["Values"]
    return list(evaluate(values, {})) if isinstance(values, str) else list(values)


def _problem_size(kernel: Mapping[str, Any]) -> Any:
    """ProblemSize, or the GlobalSize of the schema."""
    given = kernel.get("ProblemSize", kernel.get("GlobalSize"))
    if isinstance(given, Mapping):
        given = [given.get(axis, 1) for axis in "XYZ"]
    if given is None:
        raise ArgumentError(f"the kernel '{kernel['KernelName']}' of a T1 file has no ProblemSize and no GlobalSize")
    if not isinstance(given, list):
        return given
    return tuple(int(each) if isinstance(each, str) and each.isdigit() else each for each in given)


def _grid(kernel: Mapping[str, Any], params: Mapping[str, Any]) -> Dict[str, Any]:
    made: Dict[str, Any] = {}
    for axis in "xyz":
        made[f"grid_div_{axis}"] = kernel.get(f"GridDiv{axis.upper()}") or None
    is_groups = "ProblemSize" not in kernel and kernel.get("GlobalSizeType", "OpenCL").upper() == "CUDA"
    if is_groups:  # the size counts work groups
        made.update({name: [] for name, given in made.items() if given is None})
    local = kernel.get("LocalSize") or {}
    names = [local.get(axis) for axis in "XYZ"]
    if names[0] in params:
        made["block_size_names"] = [name for name in names if name in params]
    return made


def _arguments(given: List[Mapping[str, Any]], params: Mapping[str, Any], size: Any) -> Tuple[List[Any], Dict[str, Any]]:
    arguments, constants = [], {}
    for each in given:
        made = _argument(each, params, size)
        arguments.append(made)
        if each.get("MemType") == "Constant":
            constants[each["Name"]] = made
    return arguments, constants


def _argument(given: Mapping[str, Any], params: Mapping[str, Any], size: Any) -> Any:
    name = given.get("Name", "an argument")
    if given.get("Type") not in _TYPES:
        raise ArgumentError(f"{name} of a T1 file is of '{given.get('Type')}', and libtune knows {', '.join(_TYPES)}")
    dtype = numpy.dtype(_TYPES[given["Type"]])
    fill = given.get("FillType", "Constant")
    if given["MemoryType"] == "Scalar":
        return dtype.type(given.get("FillValue", 0))
    if given["MemoryType"] != "Vector" or fill not in ("Constant", "Random"):
        raise ArgumentError(f"{name} of a T1 file is a {given['MemoryType']} filled by '{fill}': give such arguments to tune_kernel")
    length = given["Size"]
    count = int(evaluate(length, {**params, "ProblemSize": size}) if isinstance(length, str) else length)
    if fill == "Constant":
        return numpy.full(count, given.get("FillValue", 0), dtype)
    return _random(count).astype(dtype)


@functools.lru_cache(maxsize=8)
def _random(count: int) -> Any:
    return numpy.random.default_rng(1).standard_normal(count)
