# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Texts over parameters, evaluated as Python."""

from __future__ import annotations

import ast
import functools
import math
import re
from typing import Any, Dict, FrozenSet, Mapping

import numpy

_KNOWN: Dict[str, Any] = {"math": math, "np": numpy, "numpy": numpy}


@functools.lru_cache(maxsize=4096)
def _code(text: str) -> Any:
    return compile(text.strip(), "<expression>", "eval")


def evaluate(text: str, values: Mapping[str, Any]) -> Any:
    """The value of a text in which the names of the values stand for them."""
    return eval(_code(text), {**_KNOWN, **values})


@functools.lru_cache(maxsize=4096)
def names_in(text: str) -> FrozenSet[str]:
    """The names that a text reads. Raises SyntaxError."""
    tree = ast.parse(text.strip(), mode="eval")
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def replace_param_occurrences(text: str, params: Mapping[str, Any]) -> str:
    """A text with the values of parameters in place of their names."""
    return re.sub(r"\w+", lambda word: str(params.get(word.group(), word.group())), text)
