# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""NVML, which libtune reads itself."""

from __future__ import annotations

from typing import Any, Dict, Sequence

from ..._errors import ArgumentError
from .observer import BenchmarkObserver


class NVMLObserver(BenchmarkObserver):
    """Refused: libtune measures energy, power and clocks of the finalists itself."""

    def __init__(self, observables: Sequence[str], *_: Any, **__: Any) -> None:
        raise ArgumentError(
            f"NVMLObserver({list(observables)}): libtune reads NVML itself: Kernel.option(objective='min energy') "
            "and docs/energy.md; nvml_gr_clock, nvml_mem_clock and nvml_pwr_limit are parameters here, too"
        )

    def get_results(self) -> Dict[str, Any]:
        return {}
