# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of a script as those of libtune: their names, their candidates, and both ways between them."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

import numpy

from .._errors import ArgumentError

Params = Dict[str, Any]

# The settings of a device that libtune has under other names.
_SETTINGS = {
    "nvml_gr_clock": "graphics_clock_mhz",
    "nvml_mem_clock": "memory_clock_mhz",
    "nvml_pwr_limit": "power_limit_w",
}
_REFUSED = {
    "cuda_sm_percentage": "libtune does not limit the multiprocessors of a kernel",
    "tegra_gr_clock": "libtune sets the clocks of devices with NVML only: nvml_gr_clock",
}
# Names of a result's figures, and of macros that each kernel has.
_TAKEN = ("time", "times", "outcome", "reason", "grid_size_x", "grid_size_y", "grid_size_z")


def check_tune_params_list(
    tune_params: Mapping[str, Any], observers: Any = None, simulation_mode: bool = False
) -> None:
    """Raises ArgumentError, which is a ValueError, for names that parameters cannot have."""
    for name in tune_params:
        if name in _TAKEN:
            raise ArgumentError(
                f"a parameter is called '{name}', which is a figure of each result or a macro of each kernel as "
                "well: call it something else"
            )
        if name in _REFUSED:
            raise ArgumentError(f"the parameter '{name}': {_REFUSED[name]}")
    if not tune_params:
        raise ArgumentError("tune_params is empty: give one parameter at least")


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item() if isinstance(value, numpy.generic) else value


class Parameter:
    """A parameter of a script, and its native name and candidates."""

    def __init__(self, name: str, candidates: Sequence[Any], is_extent: bool) -> None:
        self.name = name
        self.native_name = _SETTINGS.get(name, name)
        self.values: List[Any] = []
        for value in map(_plain, candidates):  # each once, without mixing True and 1
            if not any(type(value) is type(known) and value == known for known in self.values):
                self.values.append(value)
        if not self.values:
            raise ArgumentError(f"the parameter '{name}' has no candidates")
        self.native = self._candidates(is_extent)
        self._of_native = dict(zip(self.native, self.values))
        """False where the native macro of this parameter would have another text."""
        self.has_macro = name == self.native_name and (
            is_extent or all(type(a) is type(b) for a, b in zip(self.native, self.values))
        )

    def _candidates(self, is_extent: bool) -> List[Any]:
        kinds = {type(value) for value in self.values}
        if is_extent and kinds <= {int, float} and all(value == int(value) for value in self.values):
            return self._distinct([int(value) for value in self.values])
        if kinds in ({bool}, {int}, {float}, {str}):
            return self.values
        if kinds == {int, float}:
            return self._distinct([float(value) for value in self.values])
        return list(range(len(self.values)))  # anything else is a choice by its place

    def _distinct(self, natives: List[Any]) -> List[Any]:
        return natives if len(set(natives)) == len(natives) else list(range(len(natives)))

    def of_native(self, native: Any) -> Any:
        """The value of a native candidate."""
        return self._of_native[native]

    def to_native(self, value: Any) -> Any:
        """The native candidate of a value. Raises ArgumentError for a value that is none."""
        for native, known in zip(self.native, self.values):
            if known == _plain(value):
                return native
        raise ArgumentError(f"{value!r} is no candidate of the parameter '{self.name}'")


class Parameters:
    """All parameters of a script."""

    def __init__(self, tune_params: Mapping[str, Any], extents: Sequence[str] = ()) -> None:
        self.all = [Parameter(name, list(values), name in extents) for name, values in tune_params.items()]
        self.names = [each.name for each in self.all]

    def add_to(self, tuner: Any) -> None:
        """Adds them to a libtune.Kernel or a tuner of a function. A name that libtune does not take gets another one."""
        for place, each in enumerate(self.all):
            try:
                tuner.parameter(each.native_name, each.native)
            except ArgumentError:
                each.native_name, each.has_macro = f"parameter_{place}", False
                tuner.parameter(each.native_name, each.native)

    def decode(self, native: Mapping[str, Any]) -> Params:
        """The values of a native configuration."""
        return {each.name: each.of_native(native[each.native_name]) for each in self.all}

    def encode(self, values: Mapping[str, Any]) -> Params:
        """The native configuration of values."""
        return {each.native_name: each.to_native(values[each.name]) for each in self.all}

    def without_macro(self) -> List[Parameter]:
        """Those whose macro has to be written into the text."""
        return [each for each in self.all if not each.has_macro]

    def find(self, name: str) -> Optional[Parameter]:
        """The parameter of a name."""
        return next((each for each in self.all if each.name == name), None)

    def places(self, values: Mapping[str, Any]) -> List[int]:
        """The places of values among their candidates."""
        return [each.native.index(each.to_native(values[each.name])) for each in self.all]

    def key(self, values: Mapping[str, Any]) -> str:
        """The key of a configuration in files of Kernel Tuner."""
        return ",".join(str(values[name]) for name in self.names)
