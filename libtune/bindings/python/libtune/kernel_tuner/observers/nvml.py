# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Power, energy, clocks and the temperature of NVIDIA's devices, by the package nvidia-ml-py."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy

from ..._errors import ArgumentError
from .observer import BenchmarkObserver, ContinuousObserver

_POWER = ("nvml_power", "nvml_energy", "power_readings")
_READ: Dict[str, Callable[[Any, Any], float]] = {
    "core_freq": lambda nvml, device: nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_GRAPHICS),
    "mem_freq": lambda nvml, device: nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_MEM),
    "temperature": lambda nvml, device: nvml.nvmlDeviceGetTemperature(device, nvml.NVML_TEMPERATURE_GPU),
}


def _nvml() -> Any:
    try:
        import pynvml
    except ImportError as missing:
        raise ArgumentError(
            "NVMLObserver needs the package nvidia-ml-py; without it: Kernel.option(objective='min energy'), docs/energy.md"
        ) from missing
    return pynvml


class NVMLObserver(BenchmarkObserver):
    """Adds means over the runs of a configuration: core_freq and mem_freq (MHz), temperature (degrees); and of runs for
    a second nvml_power (W), nvml_energy (J of one run) and power_readings.

    save_all: adds lists of all readings, named with an s at the end. The other arguments do not count: clocks are
        parameters of libtune.
    """

    def __init__(
        self,
        observables: Sequence[str],
        device: int = 0,
        save_all: bool = False,
        nvidia_smi_fallback: Optional[str] = None,
        use_locked_clocks: bool = False,
        continuous_duration: float = 1,
    ) -> None:
        for name in observables:
            if name not in _READ and name not in _POWER:
                raise ArgumentError(f"NVMLObserver has no '{name}'; it has {', '.join((*_READ, *_POWER))}")
        self._names = [name for name in observables if name in _READ]
        self._save_all = save_all
        self._readings: Dict[str, List[float]] = {}
        self._device: Any = None
        power = [name for name in observables if name in _POWER]
        self.continuous_observer = _PowerObserver(power, self, continuous_duration) if power else None

    def register_device(self, dev: Any) -> None:
        """Opens the device of the search in NVML."""
        if dev.context.device.backend != "CUDA":
            raise ArgumentError(f"NVMLObserver reads devices of CUDA, and '{dev.name}' is none")
        nvml = _nvml()
        nvml.nvmlInit()
        self._device = nvml.nvmlDeviceGetHandleByPciBusId(dev.context.device.pci_address)
        super().register_device(dev)

    def register_configuration(self, params: Any) -> None:
        self._readings = {name: [] for name in self._names}

    def during(self) -> None:
        self._read()

    def after_finish(self) -> None:
        self._read()

    def _read(self) -> None:
        for name, readings in self._readings.items():
            readings.append(float(_READ[name](_nvml(), self._device)))

    def read_power(self) -> float:
        """The power now, in W."""
        return float(_nvml().nvmlDeviceGetPowerUsage(self._device)) / 1e3

    def get_results(self) -> Dict[str, Any]:
        made: Dict[str, Any] = {name: float(numpy.mean(readings)) for name, readings in self._readings.items()}
        if self._save_all:
            made.update({name + "s": readings for name, readings in self._readings.items()})
        return made


class _PowerObserver(ContinuousObserver):
    """Reads the power while runs follow each other."""

    def __init__(self, names: Sequence[str], parent: NVMLObserver, duration: float) -> None:
        self._names, self._parent, self.continuous_duration = names, parent, duration
        self._readings: List[List[float]] = []
        self._begin = 0.0

    def before_start(self) -> None:
        self._readings = []
        self._begin = time.perf_counter()

    def during(self) -> None:
        power = self._parent.read_power()
        if not self._readings or self._readings[-1][1] != power:
            self._readings.append([time.perf_counter() - self._begin, power])

    def get_results(self) -> Dict[str, Any]:
        power = float(numpy.median([reading[1] for reading in self._readings])) if self._readings else float("nan")
        made = {"nvml_power": power, "nvml_energy": power * self.results["time"] / 1e3, "power_readings": self._readings}
        return {name: made[name] for name in self._names}
