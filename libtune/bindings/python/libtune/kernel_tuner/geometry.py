# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Problem sizes, work groups and grids of a configuration."""

from __future__ import annotations

import math
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy

from .._errors import ArgumentError
from ._expressions import evaluate

default_block_size_names = ["block_size_x", "block_size_y", "block_size_z"]


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, numpy.integer))


def get_problem_size(problem_size: Any, params: Mapping[str, Any]) -> List[int]:
    """The three extents of a problem: numbers, texts, several of them, or a function of the parameters."""
    given = problem_size(params) if callable(problem_size) else problem_size
    extents = [1, 1, 1]
    for axis, extent in enumerate((given,) if isinstance(given, str) or _is_whole(given) else given):
        if isinstance(extent, str):
            extents[axis] = int(evaluate(extent, params))
        elif _is_whole(extent) or (isinstance(extent, (float, numpy.floating)) and extent == int(extent)):
            extents[axis] = int(extent)
        else:
            raise TypeError(f"a problem size is a whole number or a text, not {extent!r}")
    return extents


def get_thread_block_dimensions(
    params: Mapping[str, Any], block_size_names: Optional[Sequence[str]] = None
) -> Tuple[int, int, int]:
    """The extents of a work group: 256, 1 and 1 where no parameter names them."""
    names = list(block_size_names or ()) or default_block_size_names
    x, y, z = (int(params.get(name, usual)) for name, usual in zip(names, (256, 1, 1)))
    return x, y, z


def _divisor(given: Any, usual: Any, params: Mapping[str, Any]) -> float:
    """What a grid is divided by. A text counts as its whole part, each one for itself."""
    if given is None:
        return params.get(usual, 1)
    if callable(given):
        return given(params)
    if isinstance(given, str):
        return int(evaluate(given, params))
    if isinstance(given, (int, float, numpy.number)):
        return float(given)
    if not numpy.iterable(given):
        raise ValueError(f"a divisor of a grid is a number, a text, a function or a list, not {given!r}")
    product: float = 1
    for each in given:
        product *= _divisor(each, None, params) if each is not None else 1
    return product


def get_grid_dimensions(
    current_problem_size: Sequence[int],
    params: Mapping[str, Any],
    grid_div: Sequence[Any],
    block_size_names: Sequence[str],
) -> Tuple[int, ...]:
    """The number of work groups along each axis."""
    groups = []
    for size, given, usual in zip(current_problem_size, grid_div, block_size_names):
        divisor = float(_divisor(given, usual, params))
        if divisor == 0:
            raise ArgumentError(f"the problem size {size} is divided by 0, of {given or usual!r}")
        groups.append(int(math.ceil(float(size) / divisor)))
    return tuple(groups)


def setup_block_and_grid(
    problem_size: Any,
    grid_div: Sequence[Any],
    params: Mapping[str, Any],
    block_size_names: Optional[Sequence[str]] = None,
) -> Tuple[Tuple[int, int, int], Tuple[int, ...]]:
    """The work group and the grid of a configuration."""
    names = list(block_size_names or default_block_size_names)
    threads = get_thread_block_dimensions(params, names)
    return threads, get_grid_dimensions(get_problem_size(problem_size, params), params, grid_div, names)


def get_smem_args(smem_args: Mapping[str, Any], params: Mapping[str, Any]) -> Dict[str, Any]:
    """The same with "size" as bytes: of a number, a text or a function."""
    made = dict(smem_args)
    if "size" in made:
        size = made["size"]
        size = size(params) if callable(size) else evaluate(size, params) if isinstance(size, str) else size
        made["size"] = int(size)
    return made


def check_block_size_names(block_size_names: Any) -> None:
    """Raises ValueError unless they are a list of at most three texts, or None."""
    if block_size_names is None:
        return
    if not isinstance(block_size_names, list):
        raise ValueError(f"block_size_names is a list of texts, not {block_size_names!r}")
    if len(block_size_names) > 3:
        raise ValueError(f"block_size_names has {len(block_size_names)} names, and there are three axes")
    if not all(isinstance(name, str) for name in block_size_names):
        raise ValueError(f"block_size_names are texts: {block_size_names!r} are not")


def append_default_block_size_names(block_size_names: Optional[List[str]]) -> None:
    """Adds the usual names for the axes that have none."""
    if block_size_names is not None:
        block_size_names.extend(default_block_size_names[len(block_size_names) :])


def check_block_size_params_names_list(
    block_size_names: Optional[List[str]], tune_params: Mapping[str, Any]
) -> Optional[List[str]]:
    """The names of the work group's extents. Warns of names that no parameter has; without names finds those that
    differ from the usual ones in case only."""
    if block_size_names is not None:
        for name in block_size_names:
            if name not in tune_params:
                warnings.warn(f"no parameter is called '{name}', which block_size_names names", UserWarning)
        return block_size_names
    alike = [name for name in tune_params if name.lower() in default_block_size_names]
    if not alike:
        warnings.warn("no parameter is an extent of the work group, such as block_size_x", UserWarning)
        return None
    return sorted((name for name in alike if name not in default_block_size_names), key=str.casefold)
