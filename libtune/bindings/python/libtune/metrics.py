# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The state of a program for its operators."""

from __future__ import annotations

from typing import Any, Optional, Type

from . import _libtune


class FrameClock:
    """Measures the frames of a pipeline, as a with statement or by record():

        frames = libtune.FrameClock("receiver", deadline=5e-3)
        while running:
            with frames:
                pipeline.run()

    name: of the pipeline; clocks of one name count together.
    deadline: in seconds; longer frames are late. 0: that of an earlier clock of this name, else none is late.

    One thread uses it, except for record().
    """

    def __init__(self, name: str, deadline: float = 0.0) -> None:
        self._core = _libtune.FrameClock(name, deadline)

    def record(self, seconds: float) -> None:
        """Counts a frame that took this time."""
        self._core.record(seconds)

    def __enter__(self) -> "FrameClock":
        self._core.begin()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Any, trace: Any) -> None:
        self._core.end()


class Metrics:
    """Writes the state of libtune in this process to a file for node_exporter, from a thread of its own.

    settings: a file whose name ends in .prom, then with commas between them: each 15 s, program NAME. None: those of
        LIBTUNE_METRICS_FILE, without which no file is written.
    """

    def __init__(self, settings: Optional[str] = None) -> None:
        self._core = _libtune.Metrics(settings)

    def text(self) -> str:
        """The metrics now, in the text format of Prometheus."""
        return self._core.text()

    def write(self) -> bool:
        """Writes the file now. Returns False after a failure, which is logged."""
        return self._core.write()
