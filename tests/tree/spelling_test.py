# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""spelling_test.py SOURCE_FOLDER: the words of pages and of the comments in headers are spelt as in the dictionary.

Ends with 77, which ctest shows as skipped, where there is no aspell."""

import os
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(sys.argv[1])
# Texts, and the words that have to be found in them.
SAMPLES = {
    "a.md": ("A seperate word, `seperete`, [a link](seperite.md), libtune's.\n\n    seperote\n\n```cpp\nseperute\n```\n",
             ["seperate"]),
    "a.hpp": ("int seperate;  // colour, not color\n/* The begining */\nint begining = 0;\n", ["begining", "color"]),
    "b.hpp": ("/// Behaves as `std::vectr` does.\nconst char* text = \"http://recieve\";\n", []),
}


def check(paths):
    return subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "cmake/check_spelling.py"), *paths],
                          capture_output=True, text=True)


def texts_of(folder):
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "build" and not name.startswith(".")]
        inside = os.path.relpath(at, folder).split(os.sep)[0]
        endings = (".md", ".hpp", ".h") if inside in ("libtune", "operations") else (".md",)
        yield from (os.path.join(at, name) for name in files if name.endswith(endings))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, words) in SAMPLES.items():
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            checked = check([path])
            if checked.returncode == 77:
                print(checked.stdout)
                return 77
            found = [line.split("'")[1] for line in checked.stdout.splitlines()]
            assert found == words and checked.returncode == (1 if words else 0), (name, found, checked)
    checked = check(sorted(texts_of(SOURCE)))
    print(checked.stdout + checked.stderr)
    return checked.returncode


if __name__ == "__main__":
    sys.exit(main())
