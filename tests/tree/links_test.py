# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""links_test.py SOURCE_FOLDER: links between the pages of the tree lead to files and headings, pictures are there, and
each page can be reached from README.md."""

import os
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(sys.argv[1])
# A page, and what has to be found in it.
SAMPLES = {
    "README.md": ("# Title\n\n[a](docs/a.md#the-first-part) [b](docs/a.md) [c](#title) [d](docs)\n", []),
    "docs/README.md": ("# Index\n\n[a](a.md#the-first-part-1) `[x](y.md)`\n\n    [x](y.md)\n", []),
    "docs/a.md": ("# A\n\n## The `first` part\n\n## The first part\n\n[x](b.md) [y](#gone) [z](../README.md#gone)\n"
                  "![p](p.png)\n",
                  ["docs/a.md: b.md is not there", "docs/a.md: #gone names no heading of that page",
                   "docs/a.md: ../README.md#gone names no heading of that page",
                   "docs/a.md: the picture p.png is not there"]),
    "docs/lonely.md": ("# Lonely\n\n[self](lonely.md)\n", ["docs/lonely.md: no links lead to it from README.md"]),
}


def check(folder, pages):
    """The faults of the pages of a folder."""
    ran = subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "cmake/site/stage_pages.py"), "--check"], cwd=folder,
                         input="\n".join(pages), capture_output=True, text=True)
    faults = ran.stderr.splitlines()
    assert (ran.returncode != 0) == bool(faults), ran
    return faults


def pages_of(folder):
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "build" and not name.startswith(".")]
        yield from (os.path.relpath(os.path.join(at, name), folder) for name in files if name.endswith(".md"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "docs"))
        for path, (text, _) in SAMPLES.items():
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                file.write(text)
        expected = sorted(fault for _, faults in SAMPLES.values() for fault in faults)
        found = sorted(check(folder, SAMPLES))
        assert found == expected, found
    pages = sorted(pages_of(SOURCE))
    assert len(pages) > 50, pages
    faults = check(SOURCE, pages)
    print("\n".join(faults) or f"{len(pages)} pages")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
