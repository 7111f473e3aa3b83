#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the receiver and the sonar for hours, disturbs them, and judges.

    bench/soak/soak.py BUILD --seconds 3600 [--folder NEW_FOLDER] [-- ARGUMENTS OF soak_bench]

BUILD is a build with soak_bench and sonar. The programs' database, cache and captured frames lie in FOLDER,
which is a file system of its own in memory where that is permitted (root). In turn, one each --each seconds:

  kill    a child process of a program is killed
  full    the file system is full for 5 s
  away    the folder of the database is moved away for 5 s
  clock   the programs' clock of the day jumps by an hour, forward or back (with Debian's libfaketime)
  replay  the newest captured frame is run again by tunedb replay, and gives the same bits

It fails if a program ends early or with a failure, after a breach of the seal, a wrong result or a replay with
other bits, or if resident memory, open files or threads grow. One line for each minute, and the verdict last.
"""
import argparse
import glob
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

MIB = 1024


def children_of(pid):
    """The processes that a process has started, and that have not ended."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                name, rest = file.read().rsplit(")", 1)
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if int(parent) == pid and state != "Z":
            found.append(int(name.split()[0]))
    return found


class Process:
    """A program under test, its rounds, and its size over time."""

    def __init__(self, name, command, environment, log):
        self.name, self.rounds, self.sizes, self.ended_by_us = name, [], [], False
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        self.output = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.rounds.append(json.loads(line))
            else:
                self.output.append(line.rstrip())

    def sample(self):
        folder = f"/proc/{self.process.pid}"
        try:
            with open(f"{folder}/status", encoding="utf-8") as file:
                values = dict(line.split(":", 1) for line in file)
            self.sizes.append((int(values["VmRSS"].split()[0]), len(os.listdir(f"{folder}/fd")), int(values["Threads"])))
        except (OSError, KeyError):
            pass  # it has just ended


def growth(values):
    """The medians of the second and of the last quarter."""
    quarter = max(1, len(values) // 4)
    return statistics.median(values[quarter:2 * quarter]), statistics.median(values[-quarter:])


class Soak:
    def __init__(self, given):
        self.given, self.faults, self.counts, self.log = given, [], {}, None
        self.folder = os.path.abspath(given.folder)
        os.makedirs(self.folder, mode=0o700)
        self.is_mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256m,mode=700", "soak", self.folder],
            stderr=subprocess.DEVNULL, check=False).returncode == 0
        for each in ("state", "captures"):
            os.makedirs(f"{self.folder}/{each}", mode=0o700)
        self.clock = os.path.join(self.folder, "clock")
        self.set_clock(0)

    def program(self, name):
        for root, _, files in os.walk(self.given.build):
            if name in files and os.access(os.path.join(root, name), os.X_OK):
                return os.path.join(os.path.abspath(root), name)
        raise SystemExit(f"{self.given.build} has no program {name}; build it first")

    def environment(self):
        made = dict(os.environ, LIBTUNE_DB=f"{self.folder}/state/tuning.db", LIBTUNE_CACHE=f"{self.folder}/state/programs")
        fake = sorted(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1"))
        self.has_clock = bool(fake)
        if fake:
            made.update(LD_PRELOAD=fake[0], FAKETIME_TIMESTAMP_FILE=self.clock, FAKETIME_DONT_FAKE_MONOTONIC="1",
                        FAKETIME_DONT_RESET="1", FAKETIME_CACHE_DURATION="1")
        return made

    def set_clock(self, seconds):
        with open(self.clock + ".new", "w", encoding="utf-8") as file:
            file.write(f"{seconds:+d}\n")
        os.replace(self.clock + ".new", self.clock)

    # ---- the disturbances

    def kill(self):
        victims = [each for one in self.programs for each in children_of(one.process.pid)]
        if not victims:
            return "there was no child"
        os.kill(random.choice(victims), signal.SIGKILL)
        return ""

    def full(self):
        if not self.is_mounted:
            return "the folder is no file system of its own"
        path = f"{self.folder}/filling"
        try:
            with open(path, "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
                    file.flush()
        except OSError:
            pass
        time.sleep(5)
        os.remove(path)
        return ""

    def away(self):
        os.rename(f"{self.folder}/state", f"{self.folder}/elsewhere")
        time.sleep(5)
        if os.path.isdir(f"{self.folder}/state"):  # the programs have made it anew
            shutil.rmtree(f"{self.folder}/state")
        os.rename(f"{self.folder}/elsewhere", f"{self.folder}/state")
        return ""

    def clock_step(self):
        if not self.has_clock:
            return "there is no libfaketime"
        self.set_clock(random.choice([-3600, 0, 3600]))
        return ""

    def replay(self):
        files = sorted(glob.glob(f"{self.folder}/captures/*.ltcapture"))
        if not files:
            return "there was no captured frame"
        copy = f"{self.folder}/replayed.ltcapture"
        try:
            shutil.copy(files[-1], copy)
        except OSError:
            return "the captured frame had gone"
        ran = subprocess.run([self.program("tunedb"), "replay", copy, "--application", self.program("soak_bench")],
                             env=dict(os.environ, LIBTUNE_CACHE="off"), capture_output=True, text=True, check=False)
        os.remove(copy)
        if ran.returncode != 0:
            self.faults.append(f"replay ended with status {ran.returncode}: {(ran.stdout + ran.stderr)[-2000:]}")
        return ""

    def disturb(self):
        actions = {"kill": self.kill, "full": self.full, "away": self.away, "clock": self.clock_step, "replay": self.replay}
        name = list(actions)[self.turn % len(actions)]
        self.turn += 1
        why_not = actions[name]()
        done, not_done, _ = self.counts.get(name, (0, 0, ""))
        self.counts[name] = (done, not_done + 1, why_not) if why_not else (done + 1, not_done, "")

    # ---- the course

    def run(self):
        with open(self.given.log, "w", encoding="utf-8") as log:
            environment = self.environment()
            seconds = str(self.given.seconds)
            soak = [self.program("soak_bench"), "--seconds", seconds, "--captures", f"{self.folder}/captures"]
            sonar = [self.program("sonar"), "--seconds", seconds, "--deadline", "1000"]
            self.programs = [Process("receiver", soak + self.given.arguments, environment, log),
                             Process("sonar", sonar, environment, log)]
            self.turn = 0
            begin = time.monotonic()
            told = 0
            next_disturbance = begin + 2 * self.given.each
            try:
                while all(each.process.poll() is None for each in self.programs):
                    time.sleep(1)
                    for each in self.programs:
                        each.sample()
                    if time.monotonic() > next_disturbance:
                        self.disturb()
                        next_disturbance = time.monotonic() + self.given.each
                    if time.monotonic() - begin > 60 * (told + 1):
                        told += 1
                        self.tell(told)
                self.wait(begin)
            finally:
                for each in self.programs:
                    each.process.kill()
        return self.judge(time.monotonic() - begin)

    def wait(self, begin):
        """One has ended: the others have a minute beside their time."""
        for each in self.programs:
            left = begin + self.given.seconds + 60 - time.monotonic()
            try:
                each.process.wait(max(left, 1))
            except subprocess.TimeoutExpired:
                self.faults.append(f"the {each.name} did not end")
                continue
            if each.process.returncode != 0:
                self.faults.append(f"the {each.name} ended with status {each.process.returncode}; see {self.given.log}")
            elif time.monotonic() - begin < self.given.seconds:
                self.faults.append(f"the {each.name} ended early")

    def tell(self, minute):
        last = self.programs[0].rounds[-1] if self.programs[0].rounds else {}
        print(f"{minute} min: " + json.dumps({key: last.get(key) for key in (
            "round", "breaches", "wrong", "kept_in_all", "tuned_behind", "captured", "rss_kib", "files", "threads")}), flush=True)

    def judge(self, elapsed):
        time.sleep(1)
        rounds = self.programs[0].rounds
        total = {key: sum(each[key] for each in rounds) for key in ("frames", "late", "late_stopped", "wrong", "drifts")}
        breaches = rounds[-1]["breaches"] if rounds else 0
        if not rounds:
            self.faults.append("the receiver has completed no round")
        if breaches or total["wrong"]:
            self.faults.append(f"{breaches} breaches, {total['wrong']} wrong results")
        for each in self.programs:
            if len(each.sizes) < 8:
                continue
            for index, (what, share, room) in enumerate((("KiB of memory", 0.02, 8 * MIB), ("open files", 0, 3), ("threads", 0, 2))):
                before, after = growth([one[index] for one in each.sizes])
                print(f"{each.name}: {before:.0f} {what} in the second quarter of the time, {after:.0f} in the last")
                if after > before * (1 + share) + room:
                    self.faults.append(f"the {each.name} has grown from {before:.0f} to {after:.0f} {what}")
        for name, (done, not_done, why_not) in self.counts.items():
            print(f"{name}: {done} times" + (f", not {not_done} times: {why_not}" if not_done else ""))
        for line in self.programs[1].output:
            print(line)
        if rounds:
            print(f"{elapsed:.0f} s, {len(rounds)} rounds, {total['frames']} frames, {total['late']} late ({total['late_stopped']} with a "
                  f"stop of the program), {breaches} breaches, {total['wrong']} wrong results, {rounds[-1]['kept_in_all']} swaps kept, "
                  f"{total['drifts']} drifts, {rounds[-1]['tuned_behind']} keys tuned behind, {rounds[-1]['captured']} frames captured")
        for each in self.faults:
            print(f"FAULT: {each}")
        print(f"soak: {'passed' if not self.faults else 'failed'}")
        return 1 if self.faults else 0

    def clean(self):
        if self.is_mounted:
            subprocess.run(["umount", "-l", self.folder], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--each", type=float, default=10, help="seconds between two disturbances")
    parser.add_argument("--folder", default=f"/tmp/libtune-soak-{os.getpid()}")
    parser.add_argument("--log", default="soak.log", help="what the programs log")
    own = sys.argv[1:]
    cut = own.index("--") if "--" in own else len(own)
    given = parser.parse_args(own[:cut])
    given.arguments = own[cut + 1:]
    soak = Soak(given)
    try:
        return soak.run()
    finally:
        soak.clean()


if __name__ == "__main__":
    sys.exit(main())
