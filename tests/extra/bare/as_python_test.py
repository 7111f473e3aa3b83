# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws expressions from a grammar, and compares their values with CPython's own.

as_python_test.py PROGRAM COUNT: PROGRAM is expression_values. Expressions with a whole number beyond
64 bits on the way are drawn again, because libtune computes with real numbers there.
"""
import ast
import functools
import itertools
import math
import operator
import random
import subprocess
import sys

NAMES = {"x": 32, "y": 5, "minus": -7, "zero": 0, "big": 2**53 + 1, "half": 0.5, "tenth": 0.1,
         "on": True, "off": False, "kind": "NCHW", "empty": "", "none": None}
PARAMETERS = {"a": [0, 1, 2, -3, 32], "b": [1, 4, 0], "r": [0.1, 0.5, -2.0, 3.0],
              "t": ["NC", "HW"], "f": [True, False]}


class Beyond(Exception):
    """A number that libtune does not hold."""


def check(v):
    if isinstance(v, int) and not -2**63 <= v < 2**63:
        raise Beyond
    return v


def power(a, b):
    if isinstance(a, int) and isinstance(b, int) and b > 100:
        raise Beyond
    made = a**b
    if isinstance(made, complex):
        raise ValueError("complex")
    return made


def shift(a, b):
    if isinstance(b, int) and b > 100:
        raise Beyond
    return a << b


def multiply(a, b):
    for one, other in ((a, b), (b, a)):
        if not isinstance(one, (int, float, type(None))) and isinstance(other, int) and other > 99:
            raise Beyond
    return a * b


class Checks(ast.NodeTransformer):
    """Checks every whole number on the way."""

    SPECIAL = {ast.Pow: "_power", ast.LShift: "_shift", ast.Mult: "_multiply"}

    def call(self, name, *given):
        return ast.Call(ast.Name(name, ast.Load()), list(given), [])

    def visit_BinOp(self, node):
        self.generic_visit(node)
        special = self.SPECIAL.get(type(node.op))
        return self.call("_check", self.call(special, node.left, node.right) if special else node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return self.call("_check", node)

    visit_Call = visit_UnaryOp


def total(items, start=0):
    if isinstance(start, str):
        raise TypeError("sum of texts")
    return functools.reduce(operator.add, items, start)  # without 3.12's compensation


def limited_range(*given):
    made = range(*given)
    if abs(made.start) > 2**40 or abs(made.stop) > 2**40 or len(made) > 1000:
        raise Beyond
    return made


FUNCTIONS = {"pow": power, "range": limited_range,
             "math": math, "_check": check, "_power": power, "_shift": shift,
             "_multiply": multiply, "sum": total}


def compiled(text):
    tree = ast.fix_missing_locations(Checks().visit(ast.parse(text.strip(), mode="eval")))
    return compile(tree, "expression", "eval")


class Grammar:
    def __init__(self, seed, numbers, texts, flags):
        self.random = random.Random(seed)
        self.numbers, self.texts, self.flags = numbers, texts, flags
        self.locals = []

    def pick(self, *choices):
        return self.random.choice(choices)

    def blank(self):
        return self.pick(" ", " ", " ", "  ", "\t", " \\\n ")

    def join(self, *parts):
        return "".join(part + self.blank() for part in parts).rstrip(" \t\\\n")

    def literal(self):
        return self.pick("0", "1", "2", "3", "7", "10", "32", "1_000", "0x1F", "0b101", "0o17",
                         "0.5", "1.5", ".25", "2.", "1e3", "0.1", "0.3", "1_0.2_5", "3.0", "64")

    def atom(self):
        return self.pick(self.literal(), self.pick(*self.numbers), self.pick(*self.numbers),
                         *(self.locals or self.numbers))

    def number(self, depth):
        if depth <= 0:
            return self.atom()
        kind = self.random.randrange(20)
        down = depth - 1
        if kind < 9:
            sign = self.pick("+", "-", "*", "/", "//", "%", "+", "-", "*", "//", "%", "**")
            right = self.number(down)
            if sign == "**":
                right = self.pick("0", "1", "2", "3", "-1", "-2", "0.5", "2.0", right)
            return self.join(self.number(down), sign, right)
        if kind == 9:
            return self.join(self.number(down), self.pick("&", "|", "^", "<<", ">>"),
                             self.pick("1", "2", "5", self.number(down)))
        if kind == 10:
            return self.pick("-", "+", "~", "-") + self.number(down)
        if kind == 11:
            return "(" + self.pick("", "\n") + self.choice(down) + ")"
        if kind == 12:
            return "%s(%s, %s)" % (self.pick("min", "max", "pow", "math.gcd"), self.number(down),
                                   self.number(down))
        if kind == 13:
            return "%s(%s)" % (self.pick("abs", "int", "float", "round", "bool", "math.floor",
                                         "math.ceil", "math.sqrt", "math.trunc", "math.log2"),
                               self.number(down))
        if kind == 14:
            return "round(%s, %s)" % (self.number(down), self.pick("0", "1", "2", "3"))
        if kind == 15:
            return "%s(%s)" % (self.pick("sum", "len", "min", "max", "len"), self.items(down))
        if kind == 16:
            return self.items(down) + "[%s]" % self.pick("0", "1", "-1", self.number(down))
        if kind == 17:
            return "len(%s)" % self.text(down)
        if kind == 18:
            return "%s.count(%s)" % (self.text(down), self.text(down))
        return self.join(self.number(down), "if", self.truth(down), "else", self.number(down))

    def choice(self, depth):
        return self.pick(self.number, self.number, self.truth)(depth)

    def items(self, depth):
        kind = self.random.randrange(9)
        if kind < 2:
            return "[%s]" % ", ".join(self.number(depth - 1) for _ in range(self.pick(1, 2, 3)))
        if kind == 2:
            return "(%s, %s)" % (self.number(depth - 1), self.choice(depth - 1))
        if kind == 3:
            return "range(%s)" % ", ".join(
                self.pick("0", "2", "5", "-3", "10", self.atom()) for _ in range(self.pick(1, 2, 3)))
        if kind == 4:
            return "list(range(%s))" % self.pick("3", "5", "0", "y", "2, 9, 3", "5, 0, -2")
        if kind == 5:
            return "([1, 2] + [%s])" % self.number(depth - 1)
        if kind == 6:
            return "sorted([%s, 3, 1])" % self.number(depth - 1)
        name = self.pick("i", "j")
        self.locals.append(name)
        item = self.number(depth - 1)
        condition = self.pick("", " if %s" % self.truth(depth - 2))
        self.locals.pop()
        return "[%s for %s in %s%s]" % (item, name, self.pick("range(4)", "(1, 2.5, 0)", "[3, on]"
                                                             if "on" in self.flags else "[3, 1]"),
                                        condition)

    def text(self, depth):
        if depth <= 0 or self.random.random() < 0.4:
            return self.pick("'NC'", '"HW"', "''", "'a\\n'", "'é'", *self.texts)
        kind = self.random.randrange(5)
        if kind == 0:
            return self.pick("'Nc'", *self.texts) + self.pick(".lower()", ".upper()", ".strip()")
        if kind == 1:
            return "(" + self.join(self.text(depth - 1), "+", self.text(depth - 1)) + ")"
        if kind == 2:
            return "(" + self.text(depth - 1) + " * %s)" % self.pick("0", "2", "3")
        if kind == 3:
            return self.text(depth - 1) + "[%s]" % self.pick("0", "-1", "1")
        return "str(%s)" % self.pick("7", "-12", "True", "None", "1 + 2")

    def compared(self, depth):
        number = self.number(depth - 1)
        for _ in range(self.pick(1, 1, 1, 2, 3)):
            sign = self.pick("<", "<=", ">", ">=", "==", "!=", "==", "<=")
            number = self.join(number, sign, self.number(depth - 1))
        if self.random.random() < 0.1:
            number = self.join(number, self.pick("in", "not in"), self.items(depth - 1))
        return number

    def truth(self, depth):
        if depth <= 0:
            return self.pick(self.pick(*self.flags), "True", "False", self.atom() + " > 2")
        down = depth - 1
        kind = self.random.randrange(14)
        if kind < 4:
            return self.compared(depth)
        if kind < 7:
            return self.join(self.truth(down), self.pick("and", "or"), self.truth(down))
        if kind == 7:
            return self.join("not", self.truth(down))
        if kind == 8:
            return self.join(self.choice(down), self.pick("in", "not in"), self.items(down))
        if kind == 9:
            return self.join("(%s)" % self.truth(0), self.pick("is", "is not"),
                             self.pick("True", "False", "None", *self.flags))
        if kind == 10:
            return self.join(self.text(down), self.pick("==", "!=", "in", "<", "not in"),
                             self.text(down))
        if kind == 11:
            name = self.pick("i", "j")
            self.locals.append(name)
            item = self.truth(down)
            self.locals.pop()
            return "%s(%s for %s in range(%s))" % (self.pick("any", "all"), item, name,
                                                   self.pick("3", "0", "5"))
        if kind == 12:
            return "%s([%s, %s])" % (self.pick("any", "all"), self.choice(down), self.choice(down))
        return "%s.%s(%s)" % (self.text(down), self.pick("startswith", "endswith"),
                              self.pick(self.text(down), "('N', 'C')"))

    def expression(self):
        depth = self.pick(1, 2, 3, 4)
        made = self.pick(self.number, self.truth, self.truth, self.text)(depth)
        return made + self.pick("", "", "", "  # a comment", "\n")


def expected_value(text):
    try:
        return compiled(text), eval(compiled(text), dict(FUNCTIONS, **NAMES))
    except Beyond:
        raise
    except Exception as refused:
        return None, refused


def expected_size(text):
    """The number of configurations; None if one of them raises."""
    code = compiled(text)
    size = 0
    for values in itertools.product(*PARAMETERS.values()):
        try:
            size += bool(eval(code, dict(FUNCTIONS, **dict(zip(PARAMETERS, values)))))
        except Beyond:
            raise
        except Exception:
            return None
    return size


def agrees(expected, line, is_near):
    kind, _, text = line.partition(" ")
    if isinstance(expected, (Exception, list, tuple, set, range)):
        return kind == "error"
    if isinstance(expected, float) and kind == "float":
        made = float(text)
        if math.isnan(expected) or math.isnan(made):
            return math.isnan(expected) and math.isnan(made)
        near = is_near and math.isclose(made, expected, rel_tol=1e-15)
        return (made == expected or near) and math.copysign(1, made) == math.copysign(1, expected)
    if expected is None:
        return line == "None"
    wanted = str(int(expected)) if isinstance(expected, bool) else str(expected)
    return kind == type(expected).__name__ and text == wanted.replace("\n", " ")


def drawn(grammar, count, expect):
    cases = []
    while len(cases) < count:
        text = grammar.expression()
        try:
            cases.append((text, expect(text)))
        except Beyond:
            pass
    return cases


def main(program, count):
    import warnings
    warnings.simplefilter("ignore")
    values = Grammar(1, [n for n in NAMES if isinstance(NAMES[n], (int, float))
                         and not isinstance(NAMES[n], bool)], ["kind", "empty"],
                     ["on", "off", "none"])
    spaces = Grammar(2, ["a", "b", "r", "a", "b"], ["t"], ["f"])
    cases = [("V", *case) for case in drawn(values, count, lambda t: expected_value(t)[1])]
    cases += [("S", *case) for case in drawn(spaces, count // 10, expected_size)]
    given = "".join(mark + text + "\0" for mark, text, _ in cases)
    output = subprocess.run([program], input=given.encode(), stdout=subprocess.PIPE, check=True)
    lines = output.stdout.decode().split("\n")[:-1]
    assert len(lines) == len(cases), (len(lines), len(cases))
    wrong = 0
    for (mark, text, expected), line in zip(cases, lines):
        is_near = "**" in text or "math." in text or "pow" in text
        # A space may find no configuration to ask about the one that raises.
        if (mark == "S" and expected is None) or agrees(expected, line, is_near):
            continue
        wrong += 1
        if wrong <= 20:
            print("%s %r: %r in Python, %s here" % (mark, text, expected, line))
    raised = sum(isinstance(case[2], Exception) or case[2] is None for case in cases)
    print("%d expressions, of which %d raise in Python, %d differ" % (len(cases), raised, wrong))
    return 1 if wrong or raised > len(cases) * 2 // 3 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
