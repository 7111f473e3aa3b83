# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Cache files in the format of Kernel Tuner: read, written, and resumed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional

import numpy

from .._errors import ArgumentError
from .objectives import ErrorConfig, Row, error_configs


class NpEncoder(json.JSONEncoder):
    """Writes numbers and arrays of numpy, and paths."""

    def default(self, o: Any) -> Any:
        if isinstance(o, numpy.generic):
            return o.item()
        if isinstance(o, numpy.ndarray):
            return o.tolist()
        return str(o)


def cache_path(given: Any) -> Path:
    """The path of a cache file, whose name ends in .json."""
    text = str(Path(given).resolve()) if isinstance(given, os.PathLike) else str(given)
    return Path(text if text.endswith(".json") else text + ".json")


def read_cache(cachefile: Any, open_cache: bool = True) -> Dict[str, Any]:
    """Reads a file, also one whose last brackets are missing. Errors become those of objectives.

    open_cache: removes the last brackets, so that entries can be appended.
    """
    path = Path(cachefile)
    text = path.read_text(encoding="utf-8").strip()
    made = _parse(text, path)
    for entry in made["cache"].values():
        for value in list(entry.values()):
            if isinstance(value, str) and value in error_configs:
                entry["__error__"] = error_configs[value]()
    if open_cache and text.replace(" ", "").endswith(("}\n}", "}}}")):
        path.write_text(text[: text.rindex("}", 0, text.rindex("}"))].rstrip() + ",", encoding="utf-8")
    return made


def _parse(text: str, path: Path) -> Dict[str, Any]:
    found: Any = None
    whole_lines = text.rsplit("\n", 1)[0]  # of a program that ended while it wrote
    for attempt in (text, text.rstrip(",") + "}\n}", whole_lines.rstrip(",") + "}\n}"):
        try:
            found = json.loads(attempt)
            break
        except ValueError:
            continue
    if not isinstance(found, dict) or not isinstance(found.get("cache"), dict) or "tune_params_keys" not in found:
        raise ArgumentError(f"{path} is no cache file of Kernel Tuner: it has no 'cache' and 'tune_params_keys'")
    return found


def close_cache(cachefile: Any) -> None:
    """Adds the last brackets to a file that is open for entries."""
    path = Path(cachefile)
    if not path.is_file():
        raise ValueError(f"there is no cache file {path}")
    text = path.read_text(encoding="utf-8").rstrip()
    if text.endswith(","):
        path.write_text(text[:-1] + "}\n}", encoding="utf-8")


def check_matching_problem_size(cached_problem_size: Any, problem_size: Any) -> None:
    """Raises ArgumentError, which is a ValueError, where they differ."""
    cached, wanted = (numpy.atleast_1d(numpy.array(each)) for each in (cached_problem_size, problem_size))
    if cached.size != wanted.size or not (cached == wanted).all():
        raise ArgumentError(f"the cache has results for the problem size {cached_problem_size}, not {problem_size}")


def store_cache(key: str, params: Mapping[str, Any], cachefile: Any, cache: Dict[str, Any]) -> None:
    """Adds an entry to a cache and its file, once."""
    if not isinstance(cache, dict) or key in cache:
        return
    cache[key] = dict(params)
    if cachefile:
        with open(cachefile, "a", encoding="utf-8") as file:
            file.write("\n" + json.dumps({key: _plain(params)}, cls=NpEncoder)[1:-1] + ",")


def _plain(entry: Mapping[str, Any]) -> Dict[str, Any]:
    kept = {name: value for name, value in entry.items() if name not in ("outcome", "reason")}
    return {name: str(value) if isinstance(value, ErrorConfig) else value for name, value in kept.items()}


class CacheFile:
    """The file of one kernel, space and device."""

    def __init__(self, path: Path, head: Dict[str, Any], entries: Dict[str, Row]) -> None:
        self.path = path
        self.head = head
        self.entries = entries

    @classmethod
    def open(
        cls, given: Any, kernel_name: str, problem_size: Any, tune_params: Mapping[str, Any],
        objectives: List[str], device_name: Optional[str],
    ) -> "CacheFile":
        """Reads a file, or begins one. device_name: None for a simulation, which needs one that is there.
        Raises ArgumentError, which is a ValueError, for a file of another kernel, space, size or device."""
        path = cache_path(given)
        if path.is_file():
            found = read_cache(path, open_cache=False)
            _check(found, path, kernel_name, problem_size, list(tune_params), device_name)
            entries = found.pop("cache")
            return cls(path, found, entries)
        if device_name is None:
            raise ArgumentError(f"simulation_mode needs a cache file, and there is no {path}")
        head = {
            "device_name": device_name,
            "kernel_name": kernel_name,
            "problem_size": "callable" if callable(problem_size) else problem_size,
            "tune_params_keys": list(tune_params),
            "tune_params": {name: list(values) for name, values in tune_params.items()},
            "objective": objectives[0] if len(objectives) == 1 else objectives,
        }
        return cls(path, head, {})

    def begin(self) -> None:
        """Writes the file without its last brackets, so that entries can follow."""
        text = json.dumps({**self.head, "cache": {}}, cls=NpEncoder, indent="")
        rest = "".join("\n" + _entry(key, entry) + "," for key, entry in self.entries.items())
        self._write(text[: text.rindex("{") + 1] + rest)

    def append(self, key: str, row: Mapping[str, Any]) -> None:
        """Adds an entry to the file that was begun, so that it survives the end of the program."""
        with open(self.path, "a", encoding="utf-8") as file:
            file.write("\n" + _entry(key, row) + ",")

    def finish(self, rows: Mapping[str, Row]) -> None:
        """Writes all entries, with those of these keys replaced, and the last brackets."""
        self.entries.update(rows)
        text = json.dumps({**self.head, "cache": {}}, cls=NpEncoder, indent="")
        rest = ",".join("\n" + _entry(key, entry) for key, entry in self.entries.items())
        self._write(text[: text.rindex("{") + 1] + rest + "}\n}")

    def _write(self, text: str) -> None:
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, self.path)


def _entry(key: str, row: Mapping[str, Any]) -> str:
    return json.dumps({key: _plain(row)}, cls=NpEncoder)[1:-1]


def _check(
    found: Mapping[str, Any], path: Path, kernel_name: str, problem_size: Any, names: List[str], device: Optional[str]
) -> None:
    if device is not None and found["device_name"] != device:
        raise ArgumentError(f"{path} has results of the device '{found['device_name']}', not of '{device}'")
    if found["kernel_name"] != kernel_name:
        raise ArgumentError(f"{path} has results of the kernel '{found['kernel_name']}', not of '{kernel_name}'")
    if "problem_size" in found and not callable(problem_size):
        check_matching_problem_size(found["problem_size"], problem_size)
    cached = found["tune_params_keys"]
    if cached != names:
        way = "another order" if set(cached) == set(names) else "others"
        raise ArgumentError(f"{path} has the parameters {', '.join(cached)}: {way} than {', '.join(names)}")
