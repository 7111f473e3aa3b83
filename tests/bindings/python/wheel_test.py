# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The pyproject.toml of wheels: wheel_test.py FILE VERSION."""

import pathlib
import sys

try:
    import tomllib
except ImportError:
    print("this Python reads no TOML")
    sys.exit(0)

file, version = pathlib.Path(sys.argv[1]), sys.argv[2]
project = tomllib.loads(file.read_text(encoding="utf-8"))
assert project["build-system"]["build-backend"] == "scikit_build_core.build"
assert project["project"]["name"] == "libtune"
assert project["project"]["version"] == version, f"{file} has another version than {version}"
wheel = project["tool"]["scikit-build"]
source = (file.parent / wheel["cmake"]["source-dir"]).resolve()
assert (source / "CMakeLists.txt").exists(), f"{source} has no CMakeLists.txt"
assert (file.parent / project["project"]["readme"]).exists(), "the readme is missing"
assert wheel["install"]["components"] == ["python"]
