# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Frames of running pipelines in files."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Type

from . import _libtune
from .operations import Operation


class CapturePoint:
    """An operation at the place where it runs in a frame; made by Capture.add."""

    def __init__(self, operation: Operation, number: int) -> None:
        self.operation = operation
        self._number = number


class Frame:
    """A frame of a pipeline, for a with statement; made by Capture.frame. An exception ends it, too."""

    def __init__(self, core: _libtune.Frame) -> None:
        self._core = core

    @property
    def is_captured(self) -> bool:
        """True if a snapshot of the frame is taken."""
        return self._core.is_captured

    def run(self, point: CapturePoint) -> None:
        """Enqueues an operation, as its run() does, and copies of its slots if the frame is captured."""
        self._core.run(point._number)

    def __enter__(self) -> "Frame":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Any, trace: Any) -> None:
        self._core.end()


class Capture:
    """Captures frames of a running pipeline to files, which `tunedb replay` runs again:

        frames = libtune.Capture("receiver", "/data/frames, each 100")
        turning = frames.add("turn", turn, unchanged=["src"])
        frames.prepare()
        while running:
            with frames.frame() as frame:
                frame.run(turning)

    name: of the pipeline; in the names of the files.
    settings: a folder, then with commas between them: each N, over 5 ms, frames N, bytes 2 GiB, memory 4 GiB, on
        request. None: those of LIBTUNE_CAPTURE, without which nothing is captured.

    One thread uses it, except for request() and wait().
    """

    def __init__(self, name: str, settings: Optional[str] = None) -> None:
        self._core = _libtune.Capture(name, settings)
        self._kept: List[Operation] = []

    def add(
        self, name: str, operation: Operation, unchanged: Iterable[str] = (), overwritten: Iterable[str] = ()
    ) -> CapturePoint:
        """Adds an operation, before prepare().

        unchanged: slots that a run only reads, which need no snapshot after it.
        overwritten: slots that a run overwrites as a whole, which need no snapshot before it.
        """
        number = self._core.add(name, operation._core, list(unchanged), list(overwritten))
        self._kept.append(operation)
        return CapturePoint(operation, number)

    def prepare(self) -> None:
        """Binds unbound slots, and allocates the memory for snapshots. Raises ArgumentError if they need more than
        allowed."""
        self._core.prepare()

    def frame(self) -> Frame:
        """Begins a frame."""
        return Frame(self._core.begin())

    def request(self, frames: int = 1) -> None:
        """Requests the capture of this many of the next frames, in place of earlier requests."""
        self._core.request(frames)

    def wait(self, seconds: float = 60.0) -> bool:
        """Waits until all frames that have ended are written. Returns False if that takes longer."""
        return self._core.wait(seconds)

    def counts(self) -> Dict[str, Any]:
        """The frames so far: frames, written, in_time, skipped, failed, bytes, and the text last_failure."""
        return self._core.counts()
