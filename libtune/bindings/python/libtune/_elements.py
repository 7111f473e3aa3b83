# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Element types by their names, and numpy, which only arrays of the host need."""

from __future__ import annotations

from typing import Any

from ._errors import ArgumentError, ElementTypeError

# The kind and bits in DLPack and in the CUDA array interface, by name.
_ELEMENTS = {
    "int8": (0, 8, "|i1"),
    "int16": (0, 16, "<i2"),
    "int32": (0, 32, "<i4"),
    "int64": (0, 64, "<i8"),
    "uint8": (1, 8, "|u1"),
    "uint16": (1, 16, "<u2"),
    "uint32": (1, 32, "<u4"),
    "uint64": (1, 64, "<u8"),
    "float16": (2, 16, "<f2"),
    "float32": (2, 32, "<f4"),
    "float64": (2, 64, "<f8"),
    "bfloat16": (4, 16, None),
    "complex64": (5, 64, "<c8"),
    "complex128": (5, 128, "<c16"),
}
_CODES = {(code, bits): name for name, (code, bits, _) in _ELEMENTS.items()}
_TYPESTRS = {text: name for name, (_, _, text) in _ELEMENTS.items() if text is not None}


def numpy() -> Any:
    """The module numpy, which only arrays of the host need."""
    try:
        import numpy as module
    except ImportError as missing:
        raise ImportError("libtune needs numpy for arrays of the host: install numpy") from missing
    return module


def require_native(array: Any, what: str) -> None:
    """Raises for an array of numpy whose bytes or mask would be lost: libtune takes its memory as it is."""
    if not array.dtype.isnative:
        raise ElementTypeError(
            f"{what} is of '{array.dtype.str}', whose bytes are in another order than this machine's: "
            "use astype(array.dtype.newbyteorder('='))"
        )
    if numpy().ma.is_masked(array):
        raise ArgumentError(f"{what} has masked elements, and libtune has no masks: use filled(value)")


def element_name(dtype: Any) -> str:
    """The name of an element type: of a str, a numpy dtype or type, or a dtype of PyTorch."""
    if not getattr(dtype, "isnative", True):
        raise ElementTypeError(f"libtune has no elements of '{dtype.str}', only in this machine's byte order")
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if name is None:
        name = str(dtype).replace("torch.", "")
        if name not in _ELEMENTS:
            name = numpy().dtype(dtype).name
    if name not in _ELEMENTS:
        raise ElementTypeError(
            f"libtune has no element type '{name}'; it has {', '.join(_ELEMENTS)}"
        )
    return name


def element_bytes(name: str) -> int:
    """The size of an element."""
    return _ELEMENTS[name][1] // 8
