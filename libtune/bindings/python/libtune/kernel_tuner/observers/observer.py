# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The classes that observers derive from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Dict, Mapping


class BenchmarkObserver(ABC):
    """Watches the runs of each configuration. What get_results returns is added to its result."""

    dev: Any = None

    def register_device(self, dev: Any) -> None:
        """Receives the device: dev.name, dev.max_threads, dev.env, dev.context."""
        self.dev = dev

    def register_configuration(self, params: Mapping[str, Any]) -> None:
        """Called before the runs of a configuration."""

    def before_start(self) -> None:
        """Called before each run."""

    def after_start(self) -> None:
        """Called when a run has been enqueued."""

    def during(self) -> None:
        """Called while it runs."""

    def after_finish(self) -> None:
        """Called after each run."""

    @abstractmethod
    def get_results(self) -> Dict[str, Any]:
        """Called once after the runs of a configuration."""


class IterationObserver(BenchmarkObserver):
    """An observer of single runs."""


class PrologueObserver(BenchmarkObserver):
    """An observer of one run of its own, before those of the others."""


class OutputObserver(BenchmarkObserver):
    """An observer that judges results in place of the comparison."""

    @abstractmethod
    def process_output(self, answer: Any, output: Any) -> None:
        """Receives the answer of the call and all arguments after a run."""

    def get_results(self) -> Dict[str, Any]:
        return {}


class ContinuousObserver(BenchmarkObserver):
    """An observer of runs that follow each other for a second or longer."""

    continuous_duration: float = 1
    results: Any = None
