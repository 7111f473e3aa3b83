#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""report_pictures.py TUNEDB PROGRAM WORK TARGET: makes the pictures of docs/how-it-decides.md.

Runs PROGRAM (examples/first_hour) twice with an empty database in the new folder WORK, the first time with a budget of
ten configurations, writes the report of both searches there, and stores a picture of each figure that the page shows in
the folder TARGET."""

import os
import pathlib
import subprocess
import sys

import browser

FIGURES = ("convergence", "effects", "finalists", "time", "comparison")
LARGEST = 150_000


def main():
    tunedb, program, work, target = (pathlib.Path(given).resolve() for given in sys.argv[1:5])
    path = browser.find_browser()
    if path is None:
        sys.exit("report_pictures.py: there is no Chromium; ./dev setup installs one")
    work.mkdir(mode=0o700)
    database = work / "tuning.db"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LIBTUNE_")}
    environment |= {"LIBTUNE_DB": str(database), "LIBTUNE_CACHE": str(work / "programs")}
    for settings in ({"LIBTUNE_BUDGET": "10 trials"}, {"LIBTUNE_MODE": "force"}):
        subprocess.run([program], check=True, env=environment | settings)
    report = work / "report.html"
    subprocess.run([tunedb, "report", report, database], check=True)
    with browser.Browser(path) as page:
        page.resize(860, 900)
        page.open(report.as_uri())
        for figure in FIGURES:
            picture = target / f"{figure}.png"
            page.screenshot(str(picture), f"#{figure}")
            if picture.stat().st_size > LARGEST:
                sys.exit(f"report_pictures.py: {picture} has more than {LARGEST} bytes")


if __name__ == "__main__":
    main()
