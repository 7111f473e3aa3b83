# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Restrictions: texts, functions, pairs of a function and names, and constraints of python-constraint."""

from __future__ import annotations

import ast
import inspect
import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .._errors import ArgumentError
from ._expressions import evaluate, names_in
from .parameters import Parameters

_SAFE = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.Not, ast.UnaryOp, ast.Compare, ast.BinOp, ast.Name, ast.Load,
    ast.Constant, ast.Add, ast.Sub, ast.Mult, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
)


_MOST_KEPT = 1_000_000  # answers of one function
# Constraints of python-constraint that are a sum or a product, and where they keep its bound.
_SUMS = {
    f"{kind}{what}Constraint": (f"_{kind.lower()}{what.lower()}", " + " if what == "Sum" else " * ", sign)
    for what in ("Sum", "Prod")
    for kind, sign in (("Exact", "=="), ("Min", ">="), ("Max", "<="))
}


class Restriction:
    """A condition of configurations: a function of the values, and the names that it reads."""

    def __init__(self, allows: Callable[[Mapping[str, Any]], Any], reads: Sequence[str], text: str, plain: bool) -> None:
        self.allows = allows
        self.reads = list(reads)
        self.text = text
        self.is_plain = plain  # a text that libtune reads as Python does

    def holds(self, params: Mapping[str, Any]) -> bool:
        """True for an allowed configuration. One for which it divides by zero is none."""
        try:
            return bool(self.allows(params))
        except ZeroDivisionError:
            return False


def read_restrictions(given: Any, names: Sequence[str]) -> List[Restriction]:
    """The restrictions of a script, whose parameters have these names."""
    if given is None:
        return []
    if isinstance(given, (str, tuple)) or callable(given):
        given = [given]
    return [_read(each, list(names)) for each in given]


def _read(given: Any, names: List[str]) -> Restriction:
    if isinstance(given, str):
        return _of_text(given, names)
    if isinstance(given, tuple) and len(given) >= 2:
        return _of_names(given[0], list(given[1]), names)
    if type(given).__module__.split(".")[0] == "constraint":
        return _of_names(given, names, names)
    if callable(given):
        return _of_function(given, names)
    raise ArgumentError(f"a restriction is a text, a function, or a function and names, not {given!r}")


def _of_text(text: str, names: List[str]) -> Restriction:
    try:
        read = names_in(text)
    except SyntaxError as error:
        raise ArgumentError(f"the restriction '{text}' is no expression: {error.msg}, column {error.offset}") from None
    reads = [name for name in names if name in read]
    plain = all(isinstance(node, _SAFE) for node in ast.walk(ast.parse(text.strip(), mode="eval")))
    return Restriction(lambda params: evaluate(text, params), reads, text, plain and read <= set(names))


def _of_names(function: Any, reads: List[str], names: List[str]) -> Restriction:
    for name in reads:
        if name not in names:
            raise ArgumentError(f"a restriction reads '{name}', which is no parameter; there are {', '.join(names)}")
    if hasattr(function, "_func"):  # a FunctionConstraint
        function = function._func
    elif type(function).__module__.split(".")[0] == "constraint":
        return _of_sum(function, reads, names) or Restriction(_by_constraint(function, reads), reads, repr(function), False)
    by_name = set(_argument_names(function) or ()) == set(reads)

    def allows(params: Mapping[str, Any]) -> Any:
        if by_name:
            return function(**{name: params[name] for name in reads})
        return function(*(params[name] for name in reads))

    return Restriction(allows, reads, getattr(function, "__name__", "a function"), False)


def _of_sum(constraint: Any, reads: List[str], names: List[str]) -> Optional[Restriction]:
    member, sign, relation = _SUMS.get(type(constraint).__name__, ("", "", ""))
    bound = getattr(constraint, member, None) if member else None
    if not isinstance(bound, (int, float)) or getattr(constraint, "_multipliers", None):
        return None
    return _of_text(f"{sign.join(reads)} {relation} {bound}", names)


def _by_constraint(constraint: Any, reads: List[str]) -> Callable[[Mapping[str, Any]], Any]:
    def allows(params: Mapping[str, Any]) -> Any:
        values = {name: params[name] for name in reads}
        return constraint(reads, {name: [value] for name, value in values.items()}, values)

    return allows


def _argument_names(function: Any) -> Optional[List[str]]:
    """The names of a function's arguments; None if it takes any."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind == each.VAR_KEYWORD for each in found):
        return None
    return [each.name for each in found if each.kind != each.VAR_POSITIONAL]


def _of_function(function: Callable[..., Any], names: List[str]) -> Restriction:
    text = getattr(function, "__name__", "a function")
    arguments = _argument_names(function)
    if arguments and set(arguments) <= set(names):
        return _of_names(function, arguments, names)
    if arguments is None:
        return Restriction(lambda params: function(**params), names, text, False)
    reads = _keys_read(function, arguments) if len(arguments) == 1 else None
    known = [name for name in names if reads is not None and name in reads]
    return Restriction(function, known or names, text, False)


def _keys_read(function: Any, arguments: List[str]) -> Optional[List[str]]:
    """The keys that a short function reads of its dict, if its code does nothing else with it; else None."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_freevars or code.co_names or len(code.co_varnames) != 1:
        return None
    if any(inspect.iscode(constant) for constant in code.co_consts):
        return None
    return [constant for constant in code.co_consts if isinstance(constant, str)]


def add_restrictions(restrictions: Sequence[Restriction], parameters: Parameters, tuner: Any) -> None:
    """Adds restrictions to a libtune.Kernel or a tuner of a function."""
    for each in restrictions:
        read = [parameters.find(name) for name in each.reads]
        is_native = all(p and p.native_name == p.name and p.native == p.values for p in read)
        if each.is_plain and is_native:
            tuner.restrict(each.text)
        else:
            _add_function(each, [p for p in read if p], tuner)


def _add_function(restriction: Restriction, read: Sequence[Any], tuner: Any) -> None:
    known: Dict[Any, bool] = {}  # a space is made several times
    keeps = math.prod(len(each.native) for each in read) <= _MOST_KEPT

    def allows(native: Mapping[str, Any]) -> bool:
        key = tuple(native[each.native_name] for each in read)
        if key in known:
            return known[key]
        made = restriction.holds({each.name: each.of_native(v) for each, v in zip(read, key)})
        if keeps:
            known[key] = made
        return made

    if read:
        tuner._core.restrict_reading(allows, restriction.text, [each.native_name for each in read])
    elif not restriction.holds({}):
        raise ArgumentError(f"the restriction '{restriction.text}' reads no parameter, and allows no configuration")


def check_restrictions(restrictions: Any, params: Mapping[str, Any], verbose: bool = False) -> bool:
    """True if a configuration keeps all of them."""
    for each in read_restrictions(restrictions, list(params)):
        if not each.holds(params):
            if verbose:
                print(f"skipping {dict(params)}: the restriction {each.text} does not hold")
            return False
    return True
