# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Starts the programs of the comparison, each in a process of its own, and keeps their output."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# Settings of users for their own programs, and caches by which one run would help the next.
UNWANTED = ["LIBTUNE_BUDGET", "LIBTUNE_MODE", "LIBTUNE_MATCH", "LIBTUNE_DB", "LIBTUNE_SYSTEM_DB",
            "LIBTUNE_DEVICE", "KATSDPSIGPROC_TUNE_DB", "KATSDPSIGPROC_TUNE_MATCH",
            "KERNEL_TUNER_PARALLEL", "CUPY_CACHE_DIR"]
NO_CACHES = {"CUPY_CACHE_IN_MEMORY": "1", "PYOPENCL_NO_CACHE": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class RunFailed(Exception):
    """A program did not do what it should; the text says which, and what it said."""


class Runner:
    """Runs one program after the other. Folders for caches are made anew in a temporary one."""

    def __init__(self, libtune, output):
        self.libtune = str(pathlib.Path(libtune).resolve())
        self.output = pathlib.Path(output)
        self.output.mkdir(parents=True, exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(prefix="compare-")
        self._folders = 0

    def close(self):
        self._folder.cleanup()

    def new_folder(self):
        self._folders += 1
        folder = pathlib.Path(self._folder.name) / f"cache{self._folders}"
        folder.mkdir()
        return folder

    def source(self, space):
        """A file with the text of a space's kernel."""
        path = self.output / f"{space}.cu"
        command = [self.libtune, "--print-source", space]
        path.write_text(self._run(command, self._environment(), f"{space}-source"))
        return path

    def tune(self, name, arguments, cache, driver_cache=False):
        """One search by libtune. Programs are looked for, and kept, in the folder cache."""
        environment = self._environment(driver_cache) | {"LIBTUNE_CACHE": str(cache)}
        return self._record(name, [self.libtune, *arguments], environment)

    def check(self):
        """That the convolution is right."""
        environment = self._environment() | {"LIBTUNE_CACHE": "off"}
        return self._record("convolution-check", [self.libtune, "--check"], environment)

    def python(self, name, script, arguments, driver_cache=False):
        command = [sys.executable, str(HERE / script), *arguments]
        return self._record(name, command, self._environment(driver_cache))

    def _environment(self, driver_cache=False):
        """With an empty cache of the driver, or with none."""
        cache = {"CUDA_CACHE_DISABLE": "1"}
        if driver_cache:
            cache = {"CUDA_CACHE_DISABLE": "0", "CUDA_CACHE_PATH": str(self.new_folder())}
        kept = {name: text for name, text in os.environ.items() if name not in UNWANTED}
        kept.setdefault("LIBTUNE_LOG", "warning")
        return kept | NO_CACHES | cache | {"XDG_CACHE_HOME": str(self.new_folder())}

    def _record(self, name, command, environment):
        record = json.loads(self._run(command, environment, name).strip().splitlines()[-1])
        (self.output / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
        return record

    def _run(self, command, environment, name):
        log = self.output / f"{name}.log"
        with open(log, "w", encoding="utf-8") as errors:
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=errors,
                                  text=True, check=False)
        if log.stat().st_size == 0:
            log.unlink()
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout
        said = log.read_text()[-3000:] if log.exists() else ""
        raise RunFailed(f"{' '.join(command)} ended with {done.returncode}:\n{said}\n"
                        f"{done.stdout[-1000:]}")
