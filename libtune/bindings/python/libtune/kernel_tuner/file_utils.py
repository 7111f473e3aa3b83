# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Files of results in the format T4, and of problems in the format T1."""

from __future__ import annotations

import json
import platform
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence

from .. import _libtune
from .cache import NpEncoder
from .objectives import CompilationFailedConfig, InvalidConfig, Row

_VERSION = "1.0.0"
_TIMES = {
    "compilation": "compile_time",
    "benchmark": "benchmark_time",
    "framework": "framework_time",
    "search_algorithm": "strategy_time",
    "validation": "verification_time",
}
_NO_MEASUREMENTS = {*_TIMES.values(), "timestamp", "times", "outcome", "reason", "optimal"}


def get_input_file(filepath: Any, validate: bool = True) -> Dict[str, Any]:
    """The contents of a T1 file. Raises ValueError where it lacks a part that each has."""
    found = json.loads(Path(filepath).read_text(encoding="utf-8"))
    for name in ("ConfigurationSpace", "KernelSpecification") if validate else ():
        if not isinstance(found, dict) or name not in found:
            raise ValueError(f"{filepath} is no T1 file: it has no '{name}'")
    return found


def _invalidity(row: Mapping[str, Any]) -> str:
    if "__error__" not in row:
        return "correct"
    outcome = row.get("outcome")
    if outcome == "wrong result":
        return "correctness"
    if outcome == "timed out":
        return "timeout"
    error = row["__error__"]
    kinds = {CompilationFailedConfig.__name__: "compile", InvalidConfig.__name__: "constraints"}
    return kinds.get(str(error), "runtime")


def _t4_result(row: Row, tune_params: Mapping[str, Any], objectives: Sequence[str]) -> Dict[str, Any]:
    made: Dict[str, Any] = {"timestamp": row["timestamp"]} if "timestamp" in row else {}
    made["configuration"] = {name: row[name] for name in tune_params}
    made["times"] = {name: row.get(own, 0) for name, own in _TIMES.items()}
    made["times"]["runtimes"] = list(row.get("times", []))
    made["invalidity"] = _invalidity(row)
    made["correctness"] = 0 if made["invalidity"] == "correctness" else 1
    names = [name for name in row if name not in tune_params and name not in _NO_MEASUREMENTS]
    failed = "__error__" in row
    made["measurements"] = [
        {"name": name, "value": str(row["__error__"]) if failed else row[name], "unit": "ms" if name.startswith("time") else ""}
        for name in names
    ]
    made["objectives"] = list(objectives)
    return made


def get_t4_results(results: Sequence[Row], tune_params: Mapping[str, Any], objective: str = "time") -> Dict[str, Any]:
    """Results of tune_kernel in the format T4, which has one objective."""
    if isinstance(objective, (list, tuple)):
        raise ValueError(f"T4 has one objective, not {list(objective)}")
    return {
        "results": [_t4_result(row, tune_params, [objective]) for row in results],
        "schema_version": _VERSION,
        "metadata": {"timeunit": "milliseconds"},
    }


def store_output_file(output_filename: Any, results: Sequence[Row], tune_params: Mapping[str, Any], objective: str = "time") -> None:
    """Writes results as a T4 file."""
    _write(output_filename, get_t4_results(results, tune_params, objective))


def _write(filename: Any, contents: Mapping[str, Any]) -> None:
    path = Path(str(filename) if str(filename).endswith(".json") else f"{filename}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(contents, indent=1, cls=NpEncoder), encoding="utf-8")


def _output_of(*command: str) -> Any:
    """What a program prints as JSON; None without it."""
    try:
        return json.loads(subprocess.run(command, capture_output=True, timeout=60, check=True).stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def get_t4_metadata() -> Dict[str, Any]:
    """The machine, its devices and the software, in the format of T4's metadata."""
    from .._device import devices

    hardware = _output_of("lshw", "-json") or ["unknown: lshw is not there"]
    found: List[Any] = [dict(device.info) for device in devices()]
    return {
        "schema_version": _VERSION,
        "metadata": {
            "operating_system": platform.system(),
            "hardware": {"hardware_description": hardware if isinstance(hardware, list) else [hardware]},
            "environment": {"device_query": {"libtune": found}, "requirements": [f"libtune=={_libtune.__version__}"]},
        },
    }


def store_metadata_file(metadata_filename: Any) -> None:
    """Writes the metadata as a file."""
    _write(metadata_filename, get_t4_metadata())
