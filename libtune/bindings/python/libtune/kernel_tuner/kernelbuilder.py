# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A kernel as a function of Python."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._description import find_device, is_array
from .integration import TuneResults
from .interface import run_kernel
from .sources import Sources


class PythonKernel:
    """Runs a kernel with the arrays of each call, and returns those that are outputs.

    A call copies its arrays to the device and back; libtune.Kernel makes operations, which keep theirs.

    arguments: as many as a call has. params: values of the parameters; results_file: a file of store_results that has
        them for this device and problem size. inputs, outputs: a bool for each argument; all are both by default.
    """

    def __init__(
        self,
        kernel_name: str,
        kernel_string: Any,
        problem_size: Any,
        arguments: Sequence[Any],
        params: Optional[Mapping[str, Any]] = None,
        inputs: Optional[Sequence[bool]] = None,
        outputs: Optional[Sequence[bool]] = None,
        device: int = 0,
        platform: int = 0,
        block_size_names: Optional[List[str]] = None,
        grid_div_x: Any = None,
        grid_div_y: Any = None,
        grid_div_z: Any = None,
        verbose: bool = True,
        lang: Optional[str] = None,
        results_file: Any = None,
    ) -> None:
        self.params: Dict[str, Any] = dict(params or {})
        if results_file is not None:
            found = find_device(Sources(kernel_string, lang).language, device, platform)
            self.params.update(TuneResults(results_file).get_best_config(found.name, problem_size))
        self._count = len(arguments)
        self._outputs = list(outputs) if outputs else [True] * self._count
        self._fixed = {
            "kernel_name": kernel_name, "kernel_source": kernel_string, "problem_size": problem_size, "device": device,
            "platform": platform, "block_size_names": block_size_names, "grid_div_x": grid_div_x,
            "grid_div_y": grid_div_y, "grid_div_z": grid_div_z, "lang": lang,
        }

    def run_kernel(self, args: Sequence[Any]) -> List[Any]:
        """Runs it on these arguments."""
        if len(args) != self._count:
            raise TypeError(f"the kernel '{self._fixed['kernel_name']}' has {self._count} arguments, not {len(args)}")
        found = run_kernel(arguments=args, params=self.params, **self._fixed)
        return [each for each, wanted in zip(found, self._outputs) if wanted and is_array(each)]

    def __call__(self, *args: Any) -> List[Any]:
        return self.run_kernel(args)
