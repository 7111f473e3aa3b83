# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The helpers of scripts under the names of kernel_tuner.util."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence

from ._budget import StopCriterionReached, TuningBudget
from ._expressions import replace_param_occurrences
from .cache import NpEncoder, check_matching_problem_size, close_cache, read_cache, store_cache
from .geometry import (
    append_default_block_size_names,
    check_block_size_names,
    check_block_size_params_names_list,
    default_block_size_names,
    get_grid_dimensions,
    get_problem_size,
    get_smem_args,
    get_thread_block_dimensions,
    setup_block_and_grid,
)
from .objectives import (
    CompilationFailedConfig,
    ErrorConfig,
    InvalidConfig,
    RuntimeFailedConfig,
    get_best_config,
    get_objective_defaults,
    get_pareto_results,
    get_result_cost,
    objective_default_map,
    process_metrics,
)
from .parameters import check_tune_params_list
from .restrictions import check_restrictions
from .sources import (
    detect_language,
    get_kernel_string,
    looks_like_a_filename,
    prepare_kernel_string,
    read_file,
    write_file,
)
from .verification import normalize_verify_function

__all__ = [
    "CompilationFailedConfig", "ErrorConfig", "InvalidConfig", "NpEncoder", "RuntimeFailedConfig",
    "StopCriterionReached", "TuningBudget",
    "append_default_block_size_names", "check_block_size_names", "check_block_size_params_names_list",
    "check_matching_problem_size", "check_restrictions", "check_tune_params_list", "close_cache",
    "default_block_size_names", "delete_temp_file", "detect_language", "get_best_config", "get_config_string",
    "get_grid_dimensions", "get_instance_string", "get_kernel_string", "get_objective_defaults", "get_pareto_results",
    "get_problem_size", "get_result_cost", "get_smem_args", "get_thread_block_dimensions", "looks_like_a_filename",
    "normalize_verify_function", "objective_default_map", "prepare_kernel_string", "process_metrics", "read_cache",
    "read_file", "replace_param_occurrences", "setup_block_and_grid", "store_cache", "write_file",
]


def get_instance_string(params: Mapping[str, Any]) -> str:
    """The values of a configuration, joined."""
    return "_".join(map(str, params.values()))


def get_config_string(
    params: Mapping[str, Any], keys: Optional[Sequence[str]] = None, units: Optional[Mapping[str, str]] = None
) -> str:
    """A result in one line: all of it, or these keys."""
    texts = []
    for name, value in params.items():
        if keys and name not in keys:
            continue
        text = f"{value:.3f}" if isinstance(value, float) else str(value)
        texts.append(f"{name}={text}{(units or {}).get(name, '') if isinstance(units, dict) else ''}")
    return ", ".join(texts)


def delete_temp_file(filename: Any) -> None:
    """Deletes a file, if it is there."""
    try:
        os.remove(filename)
    except FileNotFoundError:
        pass
