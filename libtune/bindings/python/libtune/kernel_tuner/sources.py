# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The text of a kernel: a text, a file, several files, or a function of the configuration."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._errors import ArgumentError
from ._expressions import replace_param_occurrences
from .geometry import default_block_size_names

_CODE = re.compile(r"[();{}\\\n]|__global__ |__kernel |void |float ")
_ENDINGS = (".c", ".opencl", ".F", ".jl")


def looks_like_a_filename(kernel_source: Any) -> bool:
    """True for a short text with an ending of a source file and nothing that looks like code."""
    if not isinstance(kernel_source, str) or len(kernel_source) > 250 or _CODE.search(kernel_source):
        return False
    return any(ending in kernel_source for ending in _ENDINGS)


def read_file(filename: Any) -> Optional[str]:
    """The contents of a file; None if there is none."""
    return Path(filename).read_text(encoding="utf-8") if os.path.isfile(filename) else None


def write_file(filename: Any, string: str) -> None:
    """Writes a text into a file."""
    Path(filename).write_text(string, encoding="utf-8")


def get_kernel_string(kernel_source: Any, params: Optional[Mapping[str, Any]] = None) -> str:
    """The text of a source. Raises FileNotFoundError for the name of a file that is not there."""
    if callable(kernel_source):
        return kernel_source(params)
    if isinstance(kernel_source, os.PathLike) or looks_like_a_filename(kernel_source):
        return Path(kernel_source).read_text(encoding="utf-8")
    if not isinstance(kernel_source, str):
        raise TypeError(f"the source of a kernel is a text, a file or a function, not {kernel_source!r}")
    is_file = "\n" not in kernel_source and len(kernel_source) < 4096 and os.path.isfile(kernel_source)
    return Path(kernel_source).read_text(encoding="utf-8") if is_file else kernel_source


def detect_language(kernel_string: str) -> str:
    """ "CUDA" or "OpenCL" by the words of a kernel, else "C"."""
    if "__global__" in kernel_string:
        return "CUDA"
    return "OpenCL" if "__kernel" in kernel_string else "C"


def prepare_kernel_string(
    kernel_name: str,
    kernel_string: str,
    params: Mapping[str, Any],
    grid: Sequence[int],
    threads: Sequence[int],
    block_size_names: Sequence[str],
    lang: str,
    defines: Optional[Mapping[str, Any]],
) -> Tuple[str, str]:
    """The name and the text of a kernel for a configuration, with its macros before the text."""
    if defines is None:
        defines = {
            **dict(zip(("grid_size_x", "grid_size_y", "grid_size_z"), grid)),
            **dict(zip(block_size_names, threads)),
            **params,
            "kernel_tuner": 1,
        }
    lines = []
    for name, given in defines.items():
        if not name.isidentifier():
            raise ValueError(f"'{name}' cannot be the name of a macro: rename it, or give defines")
        value = macro_text(given, params)
        if "loop_unroll_factor" in name and lang.upper() in ("CUDA", "HIP"):
            if value == "0":
                kernel_string = re.sub(rf"\n\s*#pragma\s+unroll\s+{name}\b", "\n", kernel_string)
            else:
                lines.append(f"constexpr int {name} = {value};\n")
            continue
        lines.append(f"#define {name} {value}\n")
    prefix = "".join(lines) + ("#line 1\n" if lines else "")
    return replace_param_occurrences(kernel_name, params), prefix + kernel_string


def macro_text(given: Any, params: Mapping[str, Any]) -> str:
    """The text of a macro: of a value, of a text over the parameters, or of a function of them."""
    if callable(given):
        given = given(params)
    elif isinstance(given, str):
        given = replace_param_occurrences(given, params)
    return str(given).replace("\n", "\\\n")


class Sources:
    """The sources of one kernel: the first one, and files that it includes."""

    def __init__(self, given: Any, lang: Optional[str]) -> None:
        items: List[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
        self.first = items[0]
        self.headers: Dict[str, str] = {}
        for each in items[1:]:
            if not looks_like_a_filename(str(each)):
                raise ValueError("the sources after the first one are files that it includes, not texts")
            self.headers[str(each)] = get_kernel_string(each)
        self.is_function = callable(self.first)
        self.text = "" if self.is_function else get_kernel_string(self.first)
        self.language = lang or (None if self.is_function else _known_language(self.text))

    def of(self, params: Mapping[str, Any]) -> str:
        """The text of a configuration."""
        made = self.first(params) if self.is_function else self.text
        if not isinstance(made, str):
            raise ArgumentError(f"the function of the source returned {made!r}, and a text is needed")
        return made


def _known_language(text: str) -> Optional[str]:
    """None for the dialect of libtune, which runs on any device."""
    found = detect_language(text)
    return None if found == "C" and (not text or re.search(r"\bKERNEL\b|#include \"", text)) else found


def undefine_all(names: Sequence[str]) -> str:
    """Lines that take macros back."""
    return "".join(f"#undef {name}\n" for name in names if name.isidentifier())


def usual_extents(params: Mapping[str, Any], names: Sequence[str]) -> Dict[str, int]:
    """Macros for extents of the work group that are no parameters."""
    usual = dict(zip(names or default_block_size_names, (256, 1, 1)))
    return {name: value for name, value in usual.items() if name not in params}
