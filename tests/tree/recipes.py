# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the recipe of Conan has the libraries that CMake makes: recipes.py CONANFILE NAME=NEEDED,NEEDED...

The recipe is read, not run, because Conan may not be installed."""

import ast
import sys

assigned = {}
with open(sys.argv[1], encoding="utf-8") as file:
    recipe = ast.parse(file.read())
for node in recipe.body:
    if isinstance(node, ast.Assign):
        assigned[node.targets[0].id] = ast.literal_eval(node.value)
built = {}
for argument in sys.argv[2:]:
    name, _, needed = argument.partition("=")
    built[name] = sorted(filter(None, needed.split(",")))
named = {name: sorted(needed) for name, needed in assigned["COMPONENTS"].items()}
if len(built) < 15:
    sys.exit(f"CMake names only {sorted(built)}")
for name in sorted(built.keys() | named.keys()):
    if built.get(name) != named.get(name):
        sys.exit(f"conanfile.py says that libtune_{name} links {named.get(name)}, and CMake says {built.get(name)}")

# Each package that it requires is one that a component needs, which Conan asks for.
required = {node.args[0].value.partition("/")[0] for node in ast.walk(recipe)
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "requires"}
needed = {name.partition("::")[0] for name in assigned["OTHERS"]}
if required - {"cli11"} != needed:
    sys.exit(f"conanfile.py requires {sorted(required)}, and its components need {sorted(needed)}")
