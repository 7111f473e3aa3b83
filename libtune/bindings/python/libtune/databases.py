# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tuning databases: lookups, and tables of results and trials."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Union

from . import _libtune
from ._device import Context, Device, Value, context_of
from ._errors import ArgumentError

Columns = Dict[str, List[Any]]


class Result(NamedTuple):
    """What a lookup has found."""

    values: Dict[str, Value]
    """The values of the tuning."""
    facts: Dict[str, Value]
    """grade ("exact", "nearest"), step, score_ns, device_name, device_platform, device_version, differs."""


def as_frame(columns: Columns, frame: Optional[bool] = None) -> Any:
    """Columns as a pandas.DataFrame.

    frame: None: if pandas is installed, else the columns themselves; True: raises ImportError without it;
    False: the columns.
    """
    if frame is False:
        return columns
    try:
        import pandas
    except ImportError:
        if frame:
            raise
        return columns
    return pandas.DataFrame(columns)


class Database:
    """A tuning database that is read. Thread-safe.

    path: None is the one that tuning uses: LIBTUNE_DB, else that of the user.
    """

    def __init__(self, path: Optional[str] = None) -> None:
        self._core = _libtune.Database(None if path is None else str(path))

    @property
    def path(self) -> str:
        """The absolute path."""
        return self._core.path

    def find(
        self,
        name: str,
        key: Mapping[str, Value],
        device: Union[Device, Context, int, None] = None,
        *,
        version: int = -1,
        nearest: bool = False,
    ) -> Optional[Result]:
        """Returns the result of a function for a key and a device; None if there is none.

        version: -1 is the greatest that the database has.
        nearest: if there is none for this device, that of the nearest one.
        """
        if not isinstance(device, Device):
            device = context_of(device).device
        found = self._core.find(name, version, key if type(key) is dict else dict(key), device._core, nearest)
        return None if found is None else Result(*found)

    def functions(self) -> Columns:
        """Columns with a row for each function: function, version, goal, results, searches, trials."""
        return self._core.functions()

    def results(self, name: str, version: int = -1) -> Columns:
        """Columns of the results of a function: its key, its values, score_ns, device_*, tuned_at."""
        return self._table(name, version, False)

    def trials(self, name: str, version: int = -1) -> Columns:
        """Columns of every trial of a function: search, arguments, device_name, started_at, the
        parameters, outcome, message, score_ns, score_lower_ns, score_upper_ns, samples_ns, metrics."""
        return self._table(name, version, True)

    def _table(self, name: str, version: int, trials: bool) -> Columns:
        columns = self._core.table(name, version, trials)
        if columns is None:
            known = ", ".join(self.functions()["function"]) or "none"
            raise ArgumentError(f"the database {self.path} has no function '{name}'; it has {known}")
        return columns


def read_database(
    path: Optional[str] = None,
    function: Optional[str] = None,
    *,
    version: int = -1,
    trials: bool = False,
    frame: Optional[bool] = None,
) -> Any:
    """Reads the results of a database into tables: a pandas.DataFrame each if pandas is installed, else
    a dict of columns.

    path: None is the one that tuning uses.
    function: its name, for the table of that one; None: a dict with the tables of all functions, by name
        (and "name__version" where it has several versions).
    trials: every trial in place of the results.
    frame: True or False to have DataFrames, or not, whatever is installed.
    """
    database = Database(path)
    read = database.trials if trials else database.results
    if function is not None:
        return as_frame(read(function, version), frame)
    listed = database.functions()
    names = listed["function"]
    tables = {}
    for name, number in zip(names, listed["version"]):
        title = name if names.count(name) == 1 else f"{name}__{number}"
        tables[title] = as_frame(read(name, number), frame)
    return tables
