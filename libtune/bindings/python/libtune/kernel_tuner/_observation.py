# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The runs of each configuration that observers watch."""

from __future__ import annotations

import math
import threading
import time
from types import SimpleNamespace
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .._device import Context
from .._errors import ArgumentError
from .observers.observer import BenchmarkObserver
from .parameters import Parameters


def make_observers(given: Optional[Sequence[Any]], arguments: Mapping[str, Any]) -> List[Any]:
    """The observers of a call, some of which functions of the arguments of a device make."""
    made = []
    for each in given or ():
        while not hasattr(each, "get_results") or isinstance(each, type):
            if not callable(each):
                raise ArgumentError(f"the observer {each!r} has no get_results, and is no function that makes one")
            each = each() if isinstance(each, type) else each(dict(arguments))
        made.append(each)
        if getattr(each, "continuous_observer", None) is not None:
            made.append(each.continuous_observer)
    return made


def _is(observer: Any, kind: str) -> bool:
    return any(base.__name__ == kind for base in type(observer).__mro__)


class Observation:
    """Calls observers for each configuration, and keeps what they return."""

    def __init__(self, observers: Sequence[Any], iterations: int, parameters: Parameters) -> None:
        self.output = [each for each in observers if _is(each, "OutputObserver")]
        self._all = list(observers)
        self._prologue = [each for each in observers if _is(each, "PrologueObserver")]
        self._continuous = [each for each in observers if _is(each, "ContinuousObserver")]
        self._benchmark = [
            each for each in observers
            if not any(_is(each, kind) for kind in ("PrologueObserver", "ContinuousObserver", "RegisterObserver"))
        ]
        self._iterations = iterations
        self._parameters = parameters
        self.figures: Dict[str, Dict[str, Any]] = {}
        self.failure: Optional[BaseException] = None
        self.counts_registers = any(_is(each, "RegisterObserver") for each in observers)

    def register(self, context: Context, env: Mapping[str, Any]) -> None:
        """Introduces the device to all observers."""
        device = SimpleNamespace(
            name=context.device.name, max_threads=context.device.max_work_group_size, env=dict(env), context=context
        )
        device.get_environment = lambda: device.env
        if self.counts_registers and context.device.backend == "OpenCL":
            raise NotImplementedError("RegisterObserver: the drivers of OpenCL do not say how many registers a kernel has")
        for each in self._all:
            if hasattr(each, "register_device"):
                each.register_device(device)

    def __call__(self, native: Mapping[str, Any], start: Callable[[], None], finish: Callable[[], None]) -> None:
        params = self._parameters.decode(native)
        try:
            self.figures[self._parameters.key(params)] = self._observe(params, start, finish)
        except BaseException as error:
            self.failure = self.failure or error
            raise

    def of(self, params: Mapping[str, Any]) -> Dict[str, Any]:
        """What the observers returned for a configuration."""
        return self.figures.get(self._parameters.key(params), {})

    def _observe(
        self, params: Mapping[str, Any], start: Callable[[], None], finish: Callable[[], None]
    ) -> Dict[str, Any]:
        found: Dict[str, Any] = {}
        for each in self._all:
            if hasattr(each, "register_configuration"):
                each.register_configuration(params)
        for each in self._prologue:
            _watch([each], 1, start, finish)
            found.update(each.get_results())
        begin = time.perf_counter()
        for _ in range(max(1, self._iterations) if self._benchmark or self._continuous else 0):
            _watch(self._benchmark, 1, start, finish)
        took = (time.perf_counter() - begin) / max(1, self._iterations)
        for each in self._benchmark:
            found.update(each.get_results())
        if self._continuous:
            self._observe_long(took, found, start, finish)
        return found

    def _observe_long(
        self, took: float, found: Dict[str, Any], start: Callable[[], None], finish: Callable[[], None]
    ) -> None:
        longest = max([1, *(each.continuous_duration for each in self._continuous)])
        runs = max(1, math.ceil(longest / max(took, 1e-6)))
        begin = time.perf_counter()
        _watch(self._continuous, runs, start, finish)
        for each in self._continuous:
            each.results = {**found, "time": 1e3 * (time.perf_counter() - begin) / runs}
            found.update(each.get_results())


def _watch(observers: Sequence[Any], runs: int, start: Callable[[], None], finish: Callable[[], None]) -> None:
    for each in observers:
        each.before_start()
    for _ in range(runs):
        start()
    for each in observers:
        each.after_start()
    _look_until_finished([each for each in observers if hasattr(each, "during")], finish)
    for each in observers:
        each.after_finish()


def _look_until_finished(observers: Sequence[Any], finish: Callable[[], None]) -> None:
    """Calls during() as often as possible, where a class of an observer has its own."""
    looking = [each for each in observers if type(each).during is not BenchmarkObserver.during]
    if not looking:
        return finish()
    waits = threading.Thread(target=finish)
    waits.start()
    while True:
        for each in looking:
            each.during()
        waits.join(1e-4)
        if not waits.is_alive():
            return None
