# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A kernel as the arguments of run_kernel and tune_kernel describe it, and the device that it runs on."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy

from .._arrays import asarray, is_on_device
from .._device import Context, Device, devices, select_device
from .._errors import ArgumentError
from .._pyopencl import is_of_context, is_pyopencl
from .._tuning import Kernel, inout
from .geometry import (
    append_default_block_size_names,
    check_block_size_names,
    default_block_size_names,
    get_smem_args,
    setup_block_and_grid,
)
from .parameters import Parameters, Params
from .sources import Sources, macro_text, undefine_all, usual_extents

_BACKENDS = {"cuda": "CUDA", "cupy": "CUDA", "nvcuda": "CUDA", "pycuda": "CUDA", "opencl": "OpenCL"}
_ELSEWHERE = {
    "c": "libtune.tune measures what a function of Python runs",
    "fortran": "libtune.tune measures what a function of Python runs",
    "hip": "it runs OpenCL on devices of AMD",
    "julia": "write the kernel in CUDA C++ or OpenCL C",
    "hypertuner": "docs/strategies.md says how strategies are compared",
}

_contexts: Dict[Tuple[str, int], Context] = {}


def find_device(lang: Optional[str], device: int, platform: int) -> Device:
    """The device for a language, None for any, and the numbers of a device and a platform."""
    if lang is not None and lang.lower() not in _BACKENDS:
        way = _ELSEWHERE.get(lang.lower(), "see docs/from-kernel-tuner.md")
        raise ArgumentError(
            f"libtune has no language '{lang}', it tunes kernels of CUDA and OpenCL, with __global__, __kernel or KERNEL: "
            f"{way}"
        )
    backend = None if lang is None else _BACKENDS[lang.lower()]
    fitting = [each for each in devices() if backend in (None, each.backend)]
    if backend == "OpenCL":
        platforms = list(dict.fromkeys(each.platform for each in fitting))
        if platform < len(platforms) and platform > 0:
            fitting = [each for each in fitting if each.platform == platforms[platform]]
    if device == 0 and platform == 0 and fitting:
        chosen = select_device()  # by LIBTUNE_DEVICE
        return chosen if backend in (None, chosen.backend) else fitting[0]
    if not 0 <= device < len(fitting):
        raise ArgumentError(f"there is no {backend or ''} device {device}; there are {len(fitting)}")
    return fitting[device]


def context_of_device(chosen: Device) -> Context:
    """The context of a device, made once."""
    name = (chosen.backend + chosen.platform + chosen.name + chosen.uuid, 0)
    if name not in _contexts:
        _contexts[name] = Context(chosen)
    return _contexts[name]


def describe(device: Device, given: Mapping[str, Any]) -> Dict[str, Any]:
    """The environment of results of a device."""
    return {
        "device_name": device.name,
        "platform": device.platform,
        "platform_name": device.platform,
        "driver_version": device.driver_version,
        "max_threads": device.max_work_group_size,
        "iterations": given["iterations"],
        "compiler_options": list(given["compiler_options"] or ()),
    }


class Description:
    """What run_kernel and tune_kernel have in common: the kernel of libtune, its context, its parameters."""

    def __init__(self, given: Mapping[str, Any], tune_params: Mapping[str, Any]) -> None:
        _refuse(given)
        check_block_size_names(given["block_size_names"])
        self.sources = Sources(given["kernel_source"], given["lang"])
        self.context = context_of_device(
            find_device(self.sources.language, given["device"] or 0, given["platform"] or 0)
        )
        names = list(given["block_size_names"] or default_block_size_names)
        append_default_block_size_names(names)
        self.extents: List[str] = names
        self.parameters = Parameters(tune_params, names)
        self.defines = given["defines"]
        self.problem_size = given["problem_size"]
        self.grid = [given["grid_div_x"], given["grid_div_y"], given["grid_div_z"]]
        self.smem_args = given["smem_args"]
        self.arguments = list(given["arguments"])
        self.kernel = self._make(given)

    def _make(self, given: Mapping[str, Any]) -> Kernel:
        needs_prefix = self.sources.is_function or self.defines is not None
        kernel = Kernel(
            given["kernel_name"],
            self.sources.text or self._text,
            1,
            headers=self.sources.headers,
            flags=[str(flag) for flag in given["compiler_options"] or ()],
        )
        self.parameters.add_to(kernel)
        if needs_prefix or self.parameters.without_macro():
            kernel._core.source_by(self._text)
        else:
            for name, value in usual_extents(dict.fromkeys(self.parameters.names), self.extents).items():
                if name in self.sources.text:
                    kernel.define(name, value)
        kernel._core.launch_by(self._launch)
        for name, values in (given["cmem_args"] or {}).items():
            kernel.constant(name, values)
        for argument in self.arguments:
            _add_argument(kernel, argument, self.context)
        return kernel

    def _text(self, native: Mapping[str, Any]) -> str:
        params = self.parameters.decode(native)
        lines = []
        if self.defines is not None:
            lines.append(undefine_all([each.native_name for each in self.parameters.all]))
            macros = {name: macro_text(value, params) for name, value in self.defines.items()}
        else:
            changed = self.parameters.without_macro()
            lines.append(undefine_all([each.native_name for each in changed]))
            macros = {name: str(value) for name, value in usual_extents(params, self.extents).items()}
            macros.update({each.name: macro_text(params[each.name], {}) for each in changed})
        lines += [f"#define {name} {text}\n" for name, text in macros.items()]
        return "".join(lines) + "#line 1\n" + self.sources.of(params)

    def launch(self, params: Params) -> Tuple[Tuple[int, ...], Tuple[int, ...], int]:
        """The grid, the work group and the dynamic local memory of a configuration."""
        threads, groups = setup_block_and_grid(self.problem_size, self.grid, params, self.extents)
        size = get_smem_args(self.smem_args, params).get("size", 0) if self.smem_args else 0
        return groups, threads, size

    def _launch(self, native: Mapping[str, Any]) -> List[int]:
        groups, threads, size = self.launch(self.parameters.decode(native))
        if min(*groups, *threads) < 1 or size < 0:
            raise ArgumentError(f"the grid is {groups}, the work group {threads}, the local memory {size} bytes")
        return [*groups, *threads, size]


def _refuse(given: Mapping[str, Any]) -> None:
    if given["texmem_args"]:
        raise ArgumentError("texmem_args: textures are arguments of libtune's C++ interface only (tune::texture)")
    for name in given["smem_args"] or ():
        if name != "size":
            raise ArgumentError(f"smem_args has '{name}', and libtune knows 'size' only")
    if not isinstance(given["compiler_options"] or [], (list, tuple)):
        raise ArgumentError(f"compiler_options is a list of texts, not {given['compiler_options']!r}")


def is_array(argument: Any) -> bool:
    """True for an array of any library, False for a number."""
    return getattr(argument, "shape", ()) not in ((), None)


def _add_argument(kernel: Kernel, argument: Any, context: Context) -> None:
    argument = _as_elements(argument)
    if is_pyopencl(argument) and not is_of_context(argument, context):
        argument = argument.get()
    if is_on_device(argument):
        argument = asarray(argument, context)
    kernel.arguments(inout(argument) if is_array(argument) else argument)


def _as_elements(argument: Any) -> Any:
    """An array of bools or structs as one of bytes, because libtune has no elements of these types."""
    if not isinstance(argument, numpy.ndarray) or not argument.shape or not _is_bytes(argument.dtype):
        return argument
    return numpy.ascontiguousarray(argument).reshape(-1).view(numpy.uint8)


def _is_bytes(dtype: Any) -> bool:
    return dtype.kind in "bV" and not dtype.hasobject


def as_given(result: Any, given: Any) -> Any:
    """A result with the type and shape of the argument that was given."""
    if isinstance(given, numpy.ndarray) and given.shape and _is_bytes(given.dtype):
        return result.view(given.dtype).reshape(given.shape)
    return result


def parameters_of(params: Mapping[str, Any]) -> Dict[str, Sequence[Any]]:
    """One configuration as a space."""
    return {name: [value] for name, value in params.items()}
